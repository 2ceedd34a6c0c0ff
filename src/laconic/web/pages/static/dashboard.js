// What every page of the dashboard can do with a script; all of them work without.
"use strict";

const csrfToken = () => document.querySelector('meta[name="csrf-token"]').content;

// Whoever is no longer signed in is sent to the sign-in page, not shown it inside this one.
const fetchPart = async (path, options = {}) => {
  const answer = await fetch(path, { ...options, headers: { Accept: "text/html", ...options.headers } });
  if (answer.redirected && new URL(answer.url).pathname === "/dashboard/sign-in") {
    location.reload();
    return null;
  }
  return answer;
};

// <button data-copy="text" hidden>: shown and working.
document.addEventListener("click", async (event) => {
  const button = event.target.closest("button[data-copy]");
  if (!button) return;
  const label = button.querySelector("[data-label]") || button;
  const before = label.textContent;
  try {
    await copyText(button.dataset.copy);
    label.textContent = "Copied";
  } catch {
    label.textContent = "Not allowed";
  }
  setTimeout(() => { label.textContent = before; }, 2000);
});

// <form data-confirm="dialog-id">, or a button of a form with it: asks first.
document.addEventListener("submit", (event) => {
  const asks = event.submitter?.dataset.confirm || event.target.dataset.confirm;
  const dialog = asks && document.getElementById(asks);
  if (!dialog || event.target.dataset.confirmed) return;
  event.preventDefault();
  dialog.returnValue = "";
  dialog.addEventListener("close", () => {
    if (dialog.returnValue !== "yes") return;
    event.target.dataset.confirmed = "yes";
    event.target.requestSubmit(event.submitter);
  }, { once: true });
  dialog.showModal();
});

// <time datetime data-local>: in the reader's own time zone. The server writes UTC.
const shortDay = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });
const whole = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const enhance = (root) => {
  for (const button of root.querySelectorAll("button[data-copy]")) button.hidden = false;
  for (const part of root.querySelectorAll("[data-scripted]")) part.hidden = false;
  for (const time of root.querySelectorAll("time[data-local]")) {
    const moment = new Date(time.dateTime);
    time.textContent = (time.dataset.local === "day" ? shortDay : whole).format(moment);
    time.title = moment.toString();
  }
};

// <input data-wrong="What is allowed"> and a line #…-error behind it: said while it is filled in, not only when it is sent.
document.addEventListener("input", ({ target }) => {
  const line = target.dataset.wrong && document.getElementById(`${target.id}-error`);
  if (!line) return;
  line.textContent = target.validity.valid ? "" : target.dataset.wrong;
  if (target.validity.valid) target.removeAttribute("aria-invalid");
  else target.setAttribute("aria-invalid", "true");
});

// The menu of a phone closes when something beside it is touched.
document.addEventListener("click", (event) => {
  const menu = document.querySelector("details.menu[open]");
  if (menu && !menu.contains(event.target)) menu.open = false;
});

enhance(document);
