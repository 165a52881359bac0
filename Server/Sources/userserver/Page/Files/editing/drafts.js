/**
 * What a person has typed and not saved yet.
 *
 * A draft belongs to an attribute of a user, whether a view shows it or not. It ends only when it is saved or
 * discarded: a reconnect, a newer value, or the removal of the user does not end it.
 */
import { Observers } from "../shared/observers.js";
import { escapeText, needsEscapes, unescapeText } from "../shared/characters.js";
import { decodeValue, readNumber, sameValue, textValue, unset } from "../shared/values.js";

class Draft {
  /** The value that the person saw last; a save expects it. */
  base;
  /** The type that is chosen: text, number, unset, or keep for a value that cannot be edited. */
  choice;
  /** Whether the type follows from what is typed. It does where there is no value to edit, until a type is chosen. */
  isGuessing = false;
  /** What is in the field. */
  typed;
  /** Whether the field has \u{…} for characters that cannot be seen. */
  isEscaped = false;
  /** The newer value of another writer, which the person has to decide about; null if there is none. */
  theirs = null;
  isSaving = false;
  /** Whether the last save was refused because of `theirs`: keeping mine then saves at once. */
  wasRefused = false;
  isRemoved = false;
  problem = null;
  /** Whether the server could not answer, so that the same save may succeed later. */
  canRetry = false;
  /** The CellEditor that shows the draft. It moves with it from view to view. */
  editor = null;
  /** The dialog that shows the editor, with `returnFocus(draft)`; null if the table does. */
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

  /** Takes what is in the field. */
  type(text) {
    this.typed = text;
    this.problem = null;
    this.canRetry = false;
    if (!this.isGuessing) return;
    if (text === "") this.choice = this.original.choice;
    else this.choice = this.#canBeNumber && readNumber(text).value ? "number" : "text";
  }

  /** Takes the type that a person chose. */
  choose(choice) {
    this.choice = choice;
    this.isGuessing = false;
    this.problem = null;
    this.canRetry = false;
  }

  get #canBeNumber() {
    return !["name", "hair_color"].includes(this.attribute);
  }

  /** The types that the attribute can have, with their labels. */
  get choices() {
    const choices = [["text", "Text"]];
    if (this.#canBeNumber) choices.push(["number", "Number"]);
    if (this.attribute !== "name") choices.push(["unset", "Not set"]);
    return choices;
  }

  /** Whether something was edited. */
  get isEdited() {
    return this.choice !== this.original.choice || (this.typed !== this.original.typed && this.choice !== "unset");
  }

  /** The value to save: {value}, or {problem}. */
  read() {
    // What was not edited is not written: a text field turns \r\n into \n, for example.
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

  /** Takes note of the value that the attribute has now. */
  observe(value) {
    if (this.isSaving && sameValue(value, this.sending)) return;
    this.theirs = sameValue(value, this.base) ? null : value;
    if (!this.theirs) this.wasRefused = false;
  }

  /** Keeps what was typed: the next save expects the newer value. */
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
      // Older browsers ask only if this is set.
      event.returnValue = true;
    });
  }

  get(user, attribute) {
    return this.#drafts.get(keyOf(user, attribute));
  }

  /** Returns the draft of an attribute, and makes it from the present value if there is none. */
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

  /** Takes note of changes of the log. */
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

  /** Takes note of a user as a list has it. */
  observeUser(user) {
    for (const draft of this.ofUser(user.id)) {
      draft.isRemoved = false;
      draft.observe(user.value(draft.attribute));
      this.changed(draft);
    }
  }
}

/** Whether something is typed in a form of a dialog. */
function isFormEdited() {
  const fields = [...document.querySelectorAll("dialog[open] form input[type=text]")];
  return fields.some((field) => field.value !== field.defaultValue);
}

const keyOf = (user, attribute) => `${user}/${attribute}`;

/** The value in the `current` of a conflict. */
export const currentOf = (problem, attribute) =>
  problem.current?.has(attribute) ? decodeValue(problem.current.get(attribute)) : null;
