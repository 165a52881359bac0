/** Makes characters visible that a browser does not show, or that change the display of others. */
import { element } from "./dom.js";

/** Control, format, and separator characters, lone surrogates, and fillers that have no width. */
const invisible =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u3164\uffa0]/gu;

/** Format characters with a visible shape. */
const visibleFormats = /[\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u{110bd}\u{110cd}]/u;

const joiner = "\u200d";
// Not a character class: at the end of a text, Chromium 156 finds no emoji in a class of several properties.
const beforeJoiner = /(?:\p{Extended_Pictographic}|\p{Emoji_Modifier}|\ufe0f)$/u;
const afterJoiner = /^\p{Extended_Pictographic}/u;

/** The largest number of marks in a text: a megabyte of NUL must not become a million elements. */
const maximumMarks = 1_000;

const names = new Map([
  ["\0", "NUL"], ["\b", "BS"], ["\t", "TAB"], ["\n", "LF"], ["\r", "CR"], ["\u001b", "ESC"], ["\u007f", "DEL"],
  ["\u200b", "ZWSP"], ["\u200c", "ZWNJ"], ["\u200d", "ZWJ"], ["\u200e", "LRM"], ["\u200f", "RLM"], ["\ufeff", "BOM"],
]);

/** A short name for an invisible character: that of Unicode's charts, or its number. */
const characterName = (character) => names.get(character) ?? codeOf(character);

const codeOf = (character) => `U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`;

/** Whether the editor must show characters of a text as escapes; newline and tab are shown as they are. */
export function needsEscapes(text) {
  for (const { 0: character, index } of text.matchAll(invisible)) {
    if (character !== "\n" && character !== "\t" && isHidden(text, character, index)) return true;
  }
  return false;
}

/** The text with \u{…} for invisible characters, and \\ for a backslash. */
export function escapeText(text) {
  return text.replaceAll("\\", "\\\\").replace(invisible, (character, index, whole) => {
    if (character === "\n" || character === "\t" || !isHidden(whole, character, index)) return character;
    return `\\u{${character.codePointAt(0).toString(16)}}`;
  });
}

/** Reads text with escapes: {text}, or {problem}. */
export function unescapeText(escaped) {
  const mistake = /\\(?!\\|u\{[0-9a-fA-F]{1,6}\})/;
  if (mistake.test(escaped.replaceAll("\\\\", ""))) return { problem: "Write a backslash as \\\\." };
  try {
    const text = escaped.replace(/\\(?:(\\)|u\{([0-9a-fA-F]{1,6})\})/g, (_, backslash, code) =>
      backslash ?? String.fromCodePoint(parseInt(code, 16)));
    if (!text.isWellFormed?.() && text.isWellFormed) return { problem: "A surrogate is not a character." };
    return { text };
  } catch {
    return { problem: "The largest character is \\u{10ffff}." };
  }
}

/**
 * The text as nodes, in which each hidden character is a marked element.
 *
 * keepsLines: shows and keeps line breaks; otherwise they are only marked.
 */
export function visibleText(text, { keepsLines = false } = {}) {
  const fragment = document.createDocumentFragment();
  let plain = "";
  let from = 0;
  let marks = 0;
  for (const { 0: character, index } of text.matchAll(invisible)) {
    if (!isHidden(text, character, index)) continue;
    plain += text.slice(from, index);
    from = index + character.length;
    marks += 1;
    const name = characterName(character);
    if (marks > maximumMarks) {
      plain += name;
    } else {
      fragment.append(plain, element("span", { class: "hidden-character", title: codeOf(character) }, name));
      plain = "";
    }
    if (keepsLines && character === "\n") plain += "\n";
  }
  fragment.append(plain + text.slice(from));
  return fragment;
}

/** The text with names for hidden characters, for attributes and announcements. */
export function plainText(text, limit = 80) {
  const cut = cutText(text, limit);
  const visible = cut.text.replace(invisible, (character, index, whole) =>
    isHidden(whole, character, index) ? characterName(character) : character);
  return cut.isCut ? `${visible}…` : visible;
}

/** The first characters of a text, without half of a surrogate pair. */
export function cutText(text, limit) {
  if (text.length <= limit) return { text, isCut: false };
  const last = text.charCodeAt(limit - 1);
  const end = last >= 0xd800 && last < 0xdc00 ? limit - 1 : limit;
  return { text: text.slice(0, end), isCut: true };
}

/** A joiner inside an emoji is part of a visible character. */
function isHidden(text, character, index) {
  if (visibleFormats.test(character)) return false;
  if (character !== joiner) return true;
  const before = text.slice(Math.max(0, index - 2), index);
  return !(beforeJoiner.test(before) && afterJoiner.test(text.slice(index + 1, index + 3)));
}
