// Better with it, complete without it: the form is sent without a page load, and texts can be copied.
"use strict";

const show = (root) => {
  for (const button of root.querySelectorAll("button[data-copy]")) button.hidden = false;
};

document.addEventListener("click", async (event) => {
  const button = event.target.closest("button[data-copy]");
  if (!button) return;
  const label = button.textContent;
  const status = button.closest("section").querySelector(".status");
  try {
    await copyText(button.dataset.copy);
    button.textContent = "Copied";
    status.textContent = "The short link is on the clipboard.";
  } catch {
    status.textContent = "Your browser did not allow it: please copy the link by hand.";
    status.classList.add("shown");
  }
  setTimeout(() => { button.textContent = label; }, 2000);
});

document.addEventListener("submit", async (event) => {
  const form = event.target.closest("form.shorten");
  if (!form) return;
  event.preventDefault();
  const send = form.querySelector("button");
  send.disabled = true;
  try {
    const answer = await fetch(form.action, {
      method: "POST",
      headers: { Accept: "text/html" },
      body: new URLSearchParams(new FormData(form)),
    });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    document.querySelector("main").replaceWith(document.adoptNode(page.querySelector("main")));
    document.title = page.title;
    show(document);
    const next = document.querySelector(".made") || document.getElementById("url");
    next?.focus();
    if (next?.select) next.select();
  } catch {
    document.getElementById("url-error").textContent = "The server did not answer. Please try again.";
    send.disabled = false;
  }
});

show(document);
