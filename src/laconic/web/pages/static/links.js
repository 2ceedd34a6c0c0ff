// The list of links: search as you type, select all. Without this script the same form and the same pages do it.
"use strict";

const filters = document.getElementById("filters");
const rows = document.getElementById("rows");
const found = document.getElementById("found");
let asked = 0;
let waiting = null;

const address = () => {
  const wanted = new URLSearchParams();
  for (const [name, value] of new FormData(filters)) {
    if (value && !(name === "state" && value === "all") && !(name === "sort" && value === "-created_at")) {
      wanted.set(name, value);
    }
  }
  return wanted;
};

const refresh = async () => {
  const mine = ++asked;
  const wanted = address();
  const shown = wanted.size ? `${location.pathname}?${wanted}` : location.pathname;
  wanted.set("part", "rows");
  let answer;
  try {
    answer = await fetchPart(`/dashboard/links?${wanted}`);
  } catch {
    found.textContent = "The server did not answer.";
    return;
  }
  // An answer that a later one has overtaken is of no use.
  if (!answer || mine !== asked) return;
  if (!answer.ok) { location.assign(shown); return; }
  const part = new DOMParser().parseFromString(await answer.text(), "text/html");
  if (mine !== asked) return;
  rows.replaceChildren(...part.body.childNodes);
  enhance(rows);
  history.replaceState(null, "", shown);
  const count = rows.querySelector("#many")?.dataset.count || "no";
  found.textContent = `${count} links shown`;
};

filters.addEventListener("input", (event) => {
  clearTimeout(waiting);
  waiting = setTimeout(refresh, event.target.type === "search" ? 150 : 0);
});
filters.addEventListener("submit", (event) => {
  event.preventDefault();
  clearTimeout(waiting);
  refresh();
});

// With Shift, all boxes between the last one and this one.
let last = null;
rows.addEventListener("click", (event) => {
  const box = event.target;
  if (box.id === "all") {
    for (const one of rows.querySelectorAll('input[name="link"]')) one.checked = box.checked;
  } else if (box.name === "link") {
    const boxes = [...rows.querySelectorAll('input[name="link"]')];
    if (event.shiftKey && last && boxes.includes(last)) {
      const [from, to] = [boxes.indexOf(last), boxes.indexOf(box)].sort((a, b) => a - b);
      for (const one of boxes.slice(from, to + 1)) one.checked = box.checked;
    }
    last = box;
  } else {
    return;
  }
  const count = rows.querySelectorAll('input[name="link"]:checked').length;
  rows.querySelector(".chosen").textContent = `${count} selected`;
});
