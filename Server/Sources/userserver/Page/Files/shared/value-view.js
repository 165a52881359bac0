/** Shows values: short in a cell, in full in a dialog. */
import { cutText, plainText, visibleText } from "./characters.js";
import { button, element, inDigits } from "./dom.js";
import { byteCount, bytesInWords, colorOf, invalidText, kindInWords, looksLikeNumber } from "./values.js";

/** The length from which values are cut in cells and log rows. */
const shortLength = 256;
/** The length from which values are shown in full only on request, because their layout takes seconds. */
const longLength = 200_000;

/** A value in one line, of at most 256 characters. */
export function shortValue(value) {
  switch (value.kind) {
    case "unset":
    case "purged":
      return element("span", { class: "unset" }, kindInWords(value));
    case "integer":
    case "real":
      return element("span", { class: "number", title: value.kind }, value.source);
    case "data":
      return element("span", { class: "bytes" }, kindInWords(value));
    case "invalid":
      return element("span", { class: "text", title: kindInWords(value) },
        element("bdi", {}, visibleText(invalidText(value, shortLength))), badge("not UTF-8"));
    default:
      return shortText(value);
  }
}

function shortText(value) {
  const { text, isCut } = cutText(value.text, shortLength);
  const color = colorOf(value);
  const node = element("span", { class: "text" },
    color && swatch(color), element("bdi", {}, visibleText(text)),
    isCut && element("span", { class: "cut" }, element("span", { "aria-hidden": "true" }, "…"),
      badge(`${inDigits(value.text.length)} characters`)));
  if (needsQuotes(text)) node.classList.add("quoted");
  return node;
}

/** Whether only quotes distinguish a text from a number or nothing, or show its spaces. */
const needsQuotes = (text) => text === "" || text !== text.trim() || looksLikeNumber(text);

const badge = (text) => element("span", { class: "badge" }, text);

/** A small field of a color, which must come from `colorOf`. */
function swatch(color) {
  const node = element("span", { class: "swatch", "aria-hidden": "true" });
  node.style.backgroundColor = color;
  return node;
}

/** A value in full, with line breaks. */
export function fullValue(value) {
  switch (value.kind) {
    case "text": return longText(value.text, colorOf(value));
    case "invalid": return longText(invalidText(value));
    case "data":
      return element("div", {}, element("span", { class: "bytes" }, kindInWords(value)), longText(value.base64));
    default: return shortValue(value);
  }
}

function longText(text, color = null) {
  const body = element("bdi", { class: "full-text" });
  const show = (limit) => {
    const cut = cutText(text, limit);
    body.replaceChildren(visibleText(cut.text, { keepsLines: true }));
    return cut.isCut;
  };
  const node = element("div", { class: "full-value" }, color && swatch(color), body);
  if (show(longLength)) {
    const label = `Show all ${inDigits(text.length)} characters`;
    node.append(button(label, (event) => {
      event.target.remove();
      show(Infinity);
    }));
  }
  if (text === "") body.append(element("span", { class: "unset" }, "empty text"));
  return node;
}

export function valueInWords(value) {
  switch (value.kind) {
    case "text": return `“${plainText(value.text, 60)}”`;
    case "integer":
    case "real": return value.source;
    case "invalid": return `text that is not UTF-8 (${bytesInWords(byteCount(value))})`;
    default: return kindInWords(value);
  }
}
