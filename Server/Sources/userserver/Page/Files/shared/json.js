/**
 * JSON that keeps the source text of numbers.
 *
 * JSON.parse reads 1 and 1.0 as the same number and rounds 9223372036854775807. In the store they are different values,
 * so this parser returns a NumberText for each number. Objects are Maps: an attribute may be named `__proto__`.
 */

/** A number as it was written. */
export class NumberText {
  constructor(source) {
    this.source = source;
  }
}

const numberPattern = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const maximumDepth = 64;

/** Parses JSON text; throws a SyntaxError with the position of the mistake. */
export function parse(text) {
  const parser = new Parser(text);
  const value = parser.value(0);
  parser.skipSpace();
  if (parser.at < text.length) parser.fail("text after the value");
  return value;
}

/** Writes Maps, arrays, strings, NumberText, safe integers, booleans, and null. */
export function stringify(value) {
  if (value instanceof NumberText) return value.source;
  if (value instanceof Map) {
    const members = [];
    for (const [name, member] of value) members.push(`${JSON.stringify(name)}:${stringify(member)}`);
    return `{${members.join(",")}}`;
  }
  if (Array.isArray(value)) return `[${value.map(stringify).join(",")}]`;
  if (typeof value === "number" && !Number.isSafeInteger(value)) throw new TypeError("pass numbers as NumberText");
  if (value === null || ["string", "number", "boolean"].includes(typeof value)) return JSON.stringify(value);
  throw new TypeError(`no JSON for ${typeof value}`);
}

/** The integer of a small NumberText, such as a revision; undefined if there is none. */
export function integer(value) {
  return value instanceof NumberText ? Number(value.source) : undefined;
}

class Parser {
  constructor(text) {
    this.text = text;
    this.at = 0;
  }

  fail(message) {
    throw new SyntaxError(`JSON: ${message} at ${this.at}`);
  }

  skipSpace() {
    for (;;) {
      const code = this.text.charCodeAt(this.at);
      if (code !== 32 && code !== 10 && code !== 13 && code !== 9) return;
      this.at += 1;
    }
  }

  value(depth) {
    if (depth > maximumDepth) this.fail("nested too deeply");
    this.skipSpace();
    switch (this.text[this.at]) {
      case '"': return this.string();
      case "{": return this.object(depth);
      case "[": return this.array(depth);
      case "t": return this.word("true", true);
      case "f": return this.word("false", false);
      case "n": return this.word("null", null);
      default: return this.number();
    }
  }

  word(word, value) {
    if (!this.text.startsWith(word, this.at)) this.fail("unknown word");
    this.at += word.length;
    return value;
  }

  number() {
    numberPattern.lastIndex = this.at;
    const match = numberPattern.exec(this.text);
    if (!match) this.fail("a value is missing");
    this.at = numberPattern.lastIndex;
    return new NumberText(match[0]);
  }

  string() {
    const start = this.at;
    const text = this.text;
    let end = start;
    let escaped = false;
    for (;;) {
      end = text.indexOf('"', end + 1);
      if (end < 0) this.fail("a string has no end");
      let backslashes = 0;
      while (text.charCodeAt(end - 1 - backslashes) === 92) backslashes += 1;
      escaped ||= backslashes > 0;
      if (backslashes % 2 === 0) break;
    }
    this.at = end + 1;
    const content = text.slice(start + 1, end);
    if (!escaped && !content.includes("\\")) return content;
    return JSON.parse(text.slice(start, end + 1));
  }

  array(depth) {
    const values = [];
    this.at += 1;
    this.skipSpace();
    if (this.text[this.at] === "]") {
      this.at += 1;
      return values;
    }
    for (;;) {
      values.push(this.value(depth + 1));
      if (this.separator("]")) return values;
    }
  }

  object(depth) {
    const members = new Map();
    this.at += 1;
    this.skipSpace();
    if (this.text[this.at] === "}") {
      this.at += 1;
      return members;
    }
    for (;;) {
      this.skipSpace();
      if (this.text[this.at] !== '"') this.fail("a name is missing");
      const name = this.string();
      this.skipSpace();
      if (this.text[this.at] !== ":") this.fail("a colon is missing");
      this.at += 1;
      members.set(name, this.value(depth + 1));
      if (this.separator("}")) return members;
    }
  }

  /** Reads a comma, or the end of an array or object; returns whether it was the end. */
  separator(end) {
    this.skipSpace();
    const character = this.text[this.at];
    if (character !== "," && character !== end) this.fail(`a comma or ${end} is missing`);
    this.at += 1;
    return character === end;
  }
}
