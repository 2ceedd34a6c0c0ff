// While a link's form is filled in: where does the URL lead, will it be refused and why, is the code free?
"use strict";

const form = document.getElementById("link");
let round = 0;
let pause = null;

const tell = (name, verdict) => {
  const field = document.getElementById(name);
  const line = document.getElementById(`${name}-error`);
  if (!field || !line) return;
  line.textContent = verdict ? verdict.text : "";
  line.classList.toggle("good", Boolean(verdict?.ok));
  if (verdict && !verdict.ok) field.setAttribute("aria-invalid", "true");
  else field.removeAttribute("aria-invalid");
};

const check = async () => {
  const mine = ++round;
  const asked = new URLSearchParams();
  for (const name of ["url", "code", "domain"]) {
    const value = form.elements[name]?.value.trim();
    if (value) asked.set(name, value);
  }
  if (!asked.has("url") && !asked.has("code")) { tell("url"); tell("code"); return; }
  try {
    const answer = await fetchPart(`${form.dataset.check}?${asked}`, { headers: { Accept: "application/json" } });
    if (!answer?.ok || mine !== round) return;
    const told = await answer.json();
    tell("url", told.url);
    tell("code", told.code);
  } catch {
    // The form says all of it again when it is sent.
  }
};

form.addEventListener("input", (event) => {
  if (!["url", "code", "domain"].includes(event.target.name)) return;
  clearTimeout(pause);
  pause = setTimeout(check, 200);
});
if (form.elements.url.value && !form.querySelector("[aria-invalid]")) check();

// The server speaks UTC; people speak their own time.
const expires = form.elements.expires;
const toOwnTime = (text) => {
  const moment = new Date(`${text}Z`);
  return new Date(moment.getTime() - moment.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
};
const toUtc = (text) => new Date(text).toISOString().slice(0, 16);
if (expires) {
  document.getElementById("expires-hint").textContent = `In your own time (${Intl.DateTimeFormat().resolvedOptions().timeZone}).`;
  if (expires.value) expires.value = toOwnTime(expires.value.slice(0, 16));
  form.addEventListener("formdata", (event) => {
    if (expires.value) event.formData.set("expires", toUtc(expires.value));
  });
}
