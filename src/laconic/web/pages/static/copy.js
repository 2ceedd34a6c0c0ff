// Copying a text, for the public pages and the dashboard.
"use strict";

const copyText = async (text) => {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  // Browsers offer the clipboard on https and localhost only.
  const field = document.createElement("textarea");
  field.value = text;
  field.className = "offscreen";
  document.body.append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  if (!done) throw new Error("not copied");
};
