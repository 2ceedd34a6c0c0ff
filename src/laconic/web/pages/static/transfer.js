// An import with a progress bar instead of a page that grows, and an export that says how far it is.
"use strict";

const count = (number) => number.toLocaleString();

document.addEventListener("submit", (event) => {
  const form = event.target.closest("form[data-import]");
  const file = form?.elements.file.files[0];
  if (!file) return;
  event.preventDefault();
  const run = document.querySelector(".run");
  const words = run.querySelector(".run-words");
  const bar = run.querySelector("progress");
  const report = run.querySelector(".run-report");
  const button = form.querySelector("button[type=submit]");
  const finish = () => { button.disabled = false; form.elements.file.value = ""; };
  const fail = (text) => { words.textContent = text; bar.hidden = true; finish(); };
  button.disabled = true;
  report.replaceChildren();
  run.hidden = bar.hidden = false;
  bar.max = Math.max(file.size, 1);
  bar.value = 0;
  words.textContent = `Sending ${file.name}…`;

  // XMLHttpRequest and not fetch: it tells how much of the file was sent.
  const request = new XMLHttpRequest();
  let read = 0;
  const take = () => {
    for (let end; (end = request.responseText.indexOf("\n", read)) >= 0; read = end + 1) {
      const told = JSON.parse(request.responseText.slice(read, end));
      bar.value = told.bytes;
      words.textContent = `${count(told.rows)} rows read: ${count(told.made)} links made, ${count(told.refused)} refused…`;
      if (told.part === undefined) continue;
      const part = new DOMParser().parseFromString(told.part, "text/html").body.firstElementChild;
      report.replaceChildren(document.adoptNode(part));
      words.textContent = `${file.name}: ${count(told.rows)} rows read.`;
      bar.value = bar.max;
      finish();
      report.focus();
    }
  };
  request.upload.addEventListener("progress", (sent) => { bar.value = Math.min(sent.loaded, bar.max); });
  request.addEventListener("progress", () => { if (request.status === 200) take(); });
  request.addEventListener("load", () => {
    if (request.status === 200) take();
    else fail("The file was not taken. Please reload the page and send it again.");
  });
  request.addEventListener("error", () => fail("The connection broke off. What was read until then is made; look at the links before you send the rest."));
  request.open("POST", form.action);
  request.setRequestHeader("Accept", "application/x-ndjson");
  request.send(new FormData(form));
});

document.addEventListener("submit", async (event) => {
  const form = event.target.closest("form[data-export]");
  if (!form) return;
  event.preventDefault();
  const words = document.querySelector(".export-words");
  const path = event.submitter?.getAttribute("formaction") || form.getAttribute("action");
  const buttons = form.querySelectorAll("button");
  for (const button of buttons) button.disabled = true;
  try {
    const answer = await fetch(`${path}?${new URLSearchParams(new FormData(form))}`);
    if (!answer.ok || answer.redirected) throw new Error("refused");
    const pieces = [];
    let lines = path.endsWith("csv") ? -1 : 0;
    for (let reader = answer.body.getReader(), step; !(step = await reader.read()).done;) {
      pieces.push(step.value);
      for (const byte of step.value) if (byte === 10) lines += 1;
      words.textContent = `${count(lines)} links so far…`;
    }
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob(pieces, { type: answer.headers.get("content-type") }));
    link.download = /filename="([^"]+)"/.exec(answer.headers.get("content-disposition"))[1];
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
    words.textContent = `${link.download} is saved: ${count(Math.max(lines, 0))} lines.`;
  } catch {
    words.textContent = "The export broke off. Please try again.";
  }
  for (const button of buttons) button.disabled = false;
});
