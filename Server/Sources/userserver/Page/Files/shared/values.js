/**
 * The values of attributes.
 *
 * A value is {kind: "text", text}, {kind: "integer" | "real", source}, {kind: "data" | "invalid", base64}, or `unset`.
 * "invalid" is text of another program that is not valid UTF-8. In the log, a value can be `purged`.
 */
import { NumberText } from "./json.js";

export const unset = Object.freeze({ kind: "unset" });

/** A value that was removed from the log with its user. */
export const purged = Object.freeze({ kind: "purged" });

export const textValue = (text) => ({ kind: "text", text });

/** The value of a JSON value that `json.js` parsed. */
export function decodeValue(json) {
  if (json === null || json === undefined) return unset;
  if (typeof json === "string") return textValue(json);
  if (typeof json === "boolean") return { kind: "integer", source: json ? "1" : "0" };
  if (json instanceof NumberText) return numberValue(json.source);
  if (json.has("base64")) return { kind: "data", base64: json.get("base64") };
  return { kind: "invalid", base64: json.get("text_base64") ?? "" };
}

/** The JSON value for `json.js`. */
export function encodeValue(value) {
  switch (value.kind) {
    case "text": return value.text;
    case "integer":
    case "real": return new NumberText(value.source);
    case "data": return new Map([["base64", value.base64]]);
    case "invalid": return new Map([["text_base64", value.base64]]);
    default: return null;
  }
}

export function sameValue(a, b) {
  return a === b || (a.kind === b.kind && a.text === b.text && a.source === b.source && a.base64 === b.base64);
}

/** The kind in words, with the size of bytes. */
export function kindInWords(value) {
  switch (value.kind) {
    case "data": return `data, ${bytesInWords(byteCount(value))}`;
    case "invalid": return `text that is not UTF-8, ${bytesInWords(byteCount(value))}`;
    case "unset": return "not set";
    case "purged": return "purged";
    default: return value.kind;
  }
}

export function bytesInWords(count) {
  if (count < 10_240) return `${count.toLocaleString("en")} ${count === 1 ? "byte" : "bytes"}`;
  if (count < 10_485_760) return `${Math.round(count / 1024).toLocaleString("en")} KiB`;
  return `${Math.round(count / 1_048_576).toLocaleString("en")} MiB`;
}

/** The number of bytes of data or of invalid text. */
export function byteCount({ base64 }) {
  const padding = base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0;
  return (base64.length / 4) * 3 - padding;
}

const numberPattern = /^-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;
const integerRange = [-(2n ** 63n), 2n ** 63n - 1n];

/** Whether text could be taken for a number, so that it needs quotes to be told from one. */
export const looksLikeNumber = (text) => text.length < 400 && text.trim() !== "" && Number.isFinite(Number(text));

function numberValue(source) {
  return { kind: /[.eE]/.test(source) ? "real" : "integer", source };
}

/** Reads a number that a person typed: {value}, or {problem} with what is wrong. */
export function readNumber(typed) {
  const source = typed.trim();
  if (!numberPattern.test(source)) {
    return { problem: "Write a number such as 41, -3, 1.0, or 2e9, or choose “Text”." };
  }
  const value = numberValue(source);
  if (value.kind === "integer") {
    const integer = BigInt(source);
    if (integer < integerRange[0] || integer > integerRange[1]) {
      return { problem: `An integer has at most 64 bits. For a real number, write ${source}.0` };
    }
  }
  return { value };
}

const colorPattern = /^#[0-9a-f]{6}$/;

/** The CSS color of a value, only if it is exactly #rrggbb: another program may have stored `url(…)`. */
export function colorOf(value) {
  return value?.kind === "text" && colorPattern.test(value.text) ? value.text : null;
}

/** Invalid UTF-8 as text in which the invalid bytes are \xff. */
export function invalidText(value, limit = Infinity) {
  // Four characters of base64 are three bytes; cutting there keeps the bytes whole.
  const base64 = Number.isFinite(limit) ? value.base64.slice(0, Math.ceil(limit / 3) * 4) : value.base64;
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let text = "";
  for (let at = 0; at < bytes.length;) {
    const length = sequenceLength(bytes, at, decoder);
    text += length === 0
      ? `\\x${bytes[at].toString(16).padStart(2, "0")}`
      : decoder.decode(bytes.subarray(at, at + length));
    at += Math.max(length, 1);
  }
  return text;
}

/** The length of the valid sequence at a place; 0 if the byte there is invalid. */
function sequenceLength(bytes, at, decoder) {
  const first = bytes[at];
  if (first < 0x80) return 1;
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || at + length > bytes.length) return 0;
  try {
    decoder.decode(bytes.subarray(at, at + length));
    return length;
  } catch {
    return 0;
  }
}
