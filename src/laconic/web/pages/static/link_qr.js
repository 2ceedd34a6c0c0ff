// The QR editor: draws while you choose, and puts a logo in the middle. The logo never leaves the browser.
"use strict";

const look = document.getElementById("look");
const picture = document.getElementById("picture");
const links = { svg: document.getElementById("svg"), png: document.getElementById("png") };
const advice = document.getElementById("advice");
const remove = document.getElementById("no-logo");
const SVG = "http://www.w3.org/2000/svg";
// With the highest level of correction 30 % may be hidden; a logo over 22 % of each side hides about 5.
const LOGO_SHARE = 0.22;
const LARGEST_LOGO = 1_000_000;
let logo = null;
let turn = 0;

const source = (format) => {
  const chosen = new FormData(look);
  const asked = new URLSearchParams({
    format,
    size: chosen.get("size") || "512",
    margin: chosen.get("margin") || "4",
    dark: chosen.get("dark").slice(1),
    light: chosen.get("transparent") ? "transparent" : chosen.get("light").slice(1),
    error: logo ? "h" : chosen.get("error"),
    domain: chosen.get("domain"),
  });
  return `${look.dataset.picture}?${asked}`;
};

// WCAG's relative luminance: scanners, like eyes, need contrast, and dark on light.
const luminance = (colour) => {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const part = parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
};

const advise = () => {
  const chosen = new FormData(look);
  const dark = luminance(chosen.get("dark"));
  const light = chosen.get("transparent") ? 1 : luminance(chosen.get("light"));
  if (dark >= light) advice.textContent = "Many scanners cannot read light on dark.";
  else if ((light + 0.05) / (dark + 0.05) < 3) advice.textContent = "The two colours are too much alike for many scanners.";
  else if (Number(chosen.get("margin")) < 2) advice.textContent = "With so small a margin keep the surroundings empty.";
  else advice.textContent = "";
};

const withLogo = (text) => {
  const drawing = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
  const side = drawing.viewBox.baseVal.width;
  const size = side * LOGO_SHARE;
  const at = (side - size) / 2;
  const put = (name, values) => {
    const part = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(values)) part.setAttribute(key, value);
    drawing.append(part);
  };
  const chosen = new FormData(look);
  const pad = size * 0.08;
  put("rect", {
    x: at - pad, y: at - pad, width: size + 2 * pad, height: size + 2 * pad, rx: size * 0.12,
    fill: chosen.get("transparent") ? "#ffffff" : chosen.get("light"),
  });
  put("image", { x: at, y: at, width: size, height: size, href: logo, preserveAspectRatio: "xMidYMid meet" });
  return new XMLSerializer().serializeToString(drawing);
};

const asData = (text) => `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;

const asPng = (address, size) => new Promise((done, fail) => {
  const image = new Image();
  image.onload = () => {
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = size;
    canvas.getContext("2d").drawImage(image, 0, 0, size, size);
    done(canvas.toDataURL("image/png"));
  };
  image.onerror = fail;
  image.src = address;
});

const draw = async () => {
  const mine = ++turn;
  advise();
  if (!logo) {
    picture.src = links.svg.href = source("svg");
    links.png.href = source("png");
    return;
  }
  const answer = await fetch(source("svg"));
  if (!answer.ok || mine !== turn) return;
  const drawn = asData(withLogo(await answer.text()));
  const png = await asPng(drawn, Number(new FormData(look).get("size")) || 512);
  if (mine !== turn) return;
  picture.src = links.svg.href = drawn;
  links.png.href = png;
};

let wait = null;
look.addEventListener("input", (event) => {
  if (event.target.id === "logo") return;
  clearTimeout(wait);
  wait = setTimeout(draw, 100);
});
look.addEventListener("submit", (event) => event.preventDefault());
document.getElementById("logo").addEventListener("change", (event) => {
  const [file] = event.target.files;
  if (!file) return;
  if (file.size > LARGEST_LOGO) { advice.textContent = "The logo may have at most 1 MB."; return; }
  const reader = new FileReader();
  reader.onload = () => { logo = reader.result; remove.hidden = false; draw(); };
  reader.readAsDataURL(file);
});
remove.addEventListener("click", () => {
  logo = null;
  remove.hidden = true;
  document.getElementById("logo").value = "";
  draw();
});
