/**
 * The values that a person has typed and not yet saved.
 *
 * A draft belongs to a user's attribute, whether a view shows it or not. Only saving or discarding ends it; a
 * reconnect, a newer value, or the removal of the user does not.
 */
import { Observers } from "../shared/observers.js";
import { escapeText, needsEscapes, unescapeText } from "../shared/characters.js";
import { decodeValue, readNumber, sameValue, textValue, unset } from "../shared/values.js";

class Draft {
  /** The last value that the person saw, which a save expects. */
  base;
  /** The chosen type: text, number, unset, or keep for a value that cannot be edited. */
  choice;
  /** Whether the typed text determines the type; true without an editable value, until a type is chosen. */
  isGuessing = false;
  /** The contents of the field. */
  typed;
  /** Whether the field has \u{…} for invisible characters. */
  isEscaped = false;
  /** A newer value of another writer about which the person must decide; null if there is none. */
  theirs = null;
  isSaving = false;
  /** Whether the last save was refused because of `theirs`; keeping mine then saves at once. */
  wasRefused = false;
  isRemoved = false;
  problem = null;
  /** Whether the server did not answer, so that the same save may succeed later. */
  canRetry = false;
  /** The CellEditor of the draft, which moves with it from view to view. */
  editor = null;
  /** The dialog with the editor, with `returnFocus(draft)`; null if it is in the table. */
  host = null;

  constructor(user, attribute, value) {
    this.user = user;
    this.attribute = attribute;
    this.base = value;
    this.start = value;
    this.#fill(value);
  }

  #fill(value) {
    this.isEscaped = value.kind === "text" && needsEscapes(value.text);
    switch (value.kind) {
      case "text":
        this.choice = "text";
        this.typed = this.isEscaped ? escapeText(value.text) : value.text;
        break;
      case "integer":
      case "real":
        this.choice = "number";
        this.typed = value.source;
        break;
      default:
        this.choice = value.kind === "unset" && this.attribute !== "name" ? "unset" : "keep";
        this.typed = "";
        this.isGuessing = true;
    }
    this.original = { choice: this.choice, typed: this.typed };
  }

  type(text) {
    this.typed = text;
    this.problem = null;
    this.canRetry = false;
    if (!this.isGuessing) return;
    if (text === "") this.choice = this.original.choice;
    else this.choice = this.#canBeNumber && readNumber(text).value ? "number" : "text";
  }

  choose(choice) {
    this.choice = choice;
    this.isGuessing = false;
    this.problem = null;
    this.canRetry = false;
  }

  get #canBeNumber() {
    return !["name", "hair_color"].includes(this.attribute);
  }

  get choices() {
    const choices = [["text", "Text"]];
    if (this.#canBeNumber) choices.push(["number", "Number"]);
    if (this.attribute !== "name") choices.push(["unset", "Not set"]);
    return choices;
  }

  get isEdited() {
    return this.choice !== this.original.choice || (this.typed !== this.original.typed && this.choice !== "unset");
  }

  /** The value to save: {value}, or {problem}. */
  read() {
    // Unedited text is not written: a text field turns \r\n into \n, for example.
    if (!this.isEdited) return { value: this.start };
    switch (this.choice) {
      case "unset": return { value: unset };
      case "number": return readNumber(this.typed);
      case "keep": return { value: this.start };
    }
    if (!this.isEscaped) return { value: textValue(this.typed) };
    const { text, problem } = unescapeText(this.typed);
    return problem ? { problem } : { value: textValue(text) };
  }

  /** Notes the current value of the attribute. */
  observe(value) {
    if (this.isSaving && sameValue(value, this.sending)) return;
    this.theirs = sameValue(value, this.base) ? null : value;
    if (!this.theirs) this.wasRefused = false;
  }

  /** Keeps the typed value; the next save expects the newer one. */
  keepMine() {
    this.base = this.theirs;
    this.theirs = null;
    this.problem = null;
  }
}

export class Drafts {
  /** Called with each draft that changes. */
  changes = new Observers();
  #drafts = new Map();

  constructor() {
    addEventListener("beforeunload", (event) => {
      if (![...this.#drafts.values()].some((draft) => draft.isEdited) && !isFormEdited()) return;
      event.preventDefault();
      // Only this makes older browsers ask.
      event.returnValue = true;
    });
  }

  get(user, attribute) {
    return this.#drafts.get(keyOf(user, attribute));
  }

  /** Returns an attribute's draft; makes it from the current value if there is none. */
  open(user, attribute, value) {
    const key = keyOf(user, attribute);
    if (!this.#drafts.has(key)) this.#drafts.set(key, new Draft(user, attribute, value));
    const draft = this.#drafts.get(key);
    this.changed(draft);
    return draft;
  }

  close(draft) {
    this.#drafts.delete(keyOf(draft.user, draft.attribute));
    this.changed(draft);
  }

  ofUser(user) {
    return [...this.#drafts.values()].filter((draft) => draft.user === user);
  }

  get users() {
    return new Set([...this.#drafts.values()].map(({ user }) => user));
  }

  get size() {
    return this.#drafts.size;
  }

  changed(draft) {
    this.changes.call(draft);
  }

  observeChanges(changes) {
    if (this.#drafts.size === 0) return;
    for (const change of changes) {
      for (const draft of this.ofUser(change.user)) {
        if (change.op === "delete") draft.isRemoved = true;
        if (change.op === "insert") draft.isRemoved = false;
        if (change.attribute === draft.attribute && change.op !== "delete") draft.observe(change.new);
        this.changed(draft);
      }
    }
  }

  /** Notes a user's values in a list. */
  observeUser(user) {
    for (const draft of this.ofUser(user.id)) {
      draft.isRemoved = false;
      draft.observe(user.value(draft.attribute));
      this.changed(draft);
    }
  }
}

function isFormEdited() {
  const fields = [...document.querySelectorAll("dialog[open] form input[type=text]")];
  return fields.some((field) => field.value !== field.defaultValue);
}

const keyOf = (user, attribute) => `${user}/${attribute}`;

/** The value in the `current` of a conflict. */
export const currentOf = (problem, attribute) =>
  problem.current?.has(attribute) ? decodeValue(problem.current.get(attribute)) : null;
