// Pages with charts: numbers under the pointer, clicks as they come, the reader's own time zone. They work without.
"use strict";

const element = (tag, text, className) => {
  const made = document.createElement(tag);
  if (text) made.textContent = text;
  if (className) made.className = className;
  return made;
};

// Whoever has not chosen a zone gets their own with the next page.
const ownZone = Intl.DateTimeFormat().resolvedOptions().timeZone;
if (ownZone) document.cookie = `laconic_zone=${encodeURIComponent(ownZone)}; path=/dashboard; max-age=31536000; samesite=lax`;
const zones = document.getElementById("zones");
if (zones && Intl.supportedValuesOf) {
  document.getElementById("tz").addEventListener("focus", () => {
    zones.append(...["UTC", ...Intl.supportedValuesOf("timeZone")].map((name) => Object.assign(element("option"), { value: name })));
  }, { once: true });
}

// The table below a drawing has its numbers: a row for each place.
for (const plot of document.querySelectorAll("[data-chart]")) {
  const table = plot.parentElement.querySelector("table");
  const rows = [...table.tBodies[0].rows];
  const heads = [...table.tHead.rows[0].cells].slice(1).map((cell) => cell.textContent);
  const cursor = element("div", "", "cursor");
  const tip = element("div", "", "tip");
  tip.setAttribute("aria-hidden", "true");
  const hide = () => { cursor.remove(); tip.remove(); };
  const show = (event) => {
    const box = plot.getBoundingClientRect();
    const place = Math.min(Math.max(Math.floor((event.clientX - box.left) / box.width * rows.length), 0), rows.length - 1);
    const cells = [...rows[place].cells].map((cell) => cell.textContent);
    tip.replaceChildren(element("strong", cells[0]), ...heads.map((head, at) => {
      const line = element("span");
      line.append(element("span", head), element("span", cells[at + 1]));
      return line;
    }));
    const x = (place + 0.5) / rows.length * box.width;
    cursor.style.left = `${x}px`;
    plot.append(cursor, tip);
    const beside = x + 12 + tip.offsetWidth > box.width ? x - 12 - tip.offsetWidth : x + 12;
    tip.style.left = `${Math.max(beside, 0)}px`;
  };
  plot.addEventListener("pointermove", show);
  plot.addEventListener("pointerdown", show);
  plot.addEventListener("pointerleave", hide);
}

// Clicks as they come.
const MOST_SHOWN = 50;
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });
let countries = null;
try { countries = new Intl.DisplayNames(["en"], { type: "region" }); } catch { /* an old browser shows codes */ }
const countryName = (code) => {
  try { return countries ? countries.of(code) : code; } catch { return code; }
};

const liveLine = (click, showsCode) => {
  const line = element("li", "", click.device_type === "bot" ? "new bot" : "new");
  const time = element("time", clock.format(new Date(click.clicked_at)));
  time.dateTime = click.clicked_at;
  const country = click.country ? countryName(click.country) : "Unknown country";
  const from = element("span", click.city ? `${click.city}, ${country}` : country, "from");
  if (showsCode) from.append(" ", element("code", `/${click.short_code}`));
  line.append(from, time);
  const program = [click.browser, click.os].filter(Boolean).join(", ") || click.device_type;
  line.append(element("span", click.referer ? `${program} · ${click.referer}` : program, "muted"));
  return line;
};

for (const live of document.querySelectorAll("[data-live]")) {
  const list = live.querySelector("ol");
  const pulse = live.querySelector(".pulse");
  const say = (state, text) => {
    pulse.dataset.state = state;
    pulse.querySelector("em").textContent = text;
  };
  const source = new EventSource(live.dataset.live);
  source.addEventListener("open", () => say("on", "live"));
  source.addEventListener("error", () => say("off", source.readyState === EventSource.CLOSED ? "not connected" : "connecting again"));
  source.addEventListener("click", (event) => {
    const click = JSON.parse(event.data);
    list.prepend(liveLine(click, live.dataset.showsCode));
    while (list.children.length > MOST_SHOWN) list.lastElementChild.remove();
    live.querySelector(".waiting").hidden = true;
    for (const offer of document.querySelectorAll("[data-first-click]")) offer.hidden = false;
    const figure = live.dataset.untilNow && document.querySelector(`[data-figure="${click.device_type === "bot" ? "bots" : "people"}"]`);
    if (figure) figure.textContent = (Number(figure.textContent.replaceAll(",", "")) + 1).toLocaleString("en");
  });
  source.addEventListener("gap", () => list.prepend(element("li", "More clicks than can be shown one by one", "muted")));
  // A page that is left must not hold a connection: browsers allow six to a host.
  addEventListener("pagehide", () => source.close());
}
