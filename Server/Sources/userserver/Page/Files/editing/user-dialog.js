/** All values of a user, in full. They can be edited, and attributes can be added. */
import { CellEditor } from "./cell-editor.js";
import { plainText, visibleText } from "../shared/characters.js";
import { openDialog } from "../shared/dialog.js";
import { button, element, uniqueID } from "../shared/dom.js";
import { decodeUser } from "../shared/user.js";
import { kindInWords, sameValue, unset } from "../shared/values.js";
import { fullValue } from "../shared/value-view.js";

const readInterval = 250;

export class UserDialog {
  #app;
  #id;
  #actions;
  #user = null;
  #dialog;
  #list = element("dl", { class: "values" });
  #note = element("p", { class: "dialog-note" });
  #rows = new Map();
  #timer = null;
  /** The field for a new attribute's name; null if the server is read-only. */
  #newName = null;

  constructor(app, id, editorActions) {
    this.#app = app;
    this.#id = id;
    this.#actions = editorActions;
  }

  async show() {
    const { drafts, feed } = this.#app;
    this.#dialog = openDialog(`User ${this.#id}`, { className: "user-dialog" });
    this.#dialog.body.append(this.#note, this.#list, ...(this.#app.about.isReadOnly ? [] : [this.#newAttribute()]));
    for (const draft of drafts.ofUser(this.#id)) draft.host = this;
    const draftChanged = (draft) => draft.user === this.#id && this.#render();
    const userChanged = (changes) => changes.some(({ user }) => user === this.#id) && this.#readSoon();
    drafts.changes.add(draftChanged);
    feed.changes.add(userChanged);
    await this.#read();
    await this.#dialog.closed;
    clearTimeout(this.#timer);
    drafts.changes.remove(draftChanged);
    feed.changes.remove(userChanged);
    for (const draft of drafts.ofUser(this.#id)) {
      draft.host = null;
      drafts.changed(draft);
    }
  }

  returnFocus(draft) {
    // An attribute without a value has no row.
    (this.#rows.get(draft.attribute)?.edit ?? this.#newName)?.focus();
  }

  #readSoon() {
    this.#timer ??= setTimeout(() => this.#read(), readInterval);
  }

  async #read() {
    this.#timer = null;
    try {
      this.#user = decodeUser((await this.#app.api.get(`/users/${this.#id}`)).json);
      this.#note.textContent = "";
    } catch (error) {
      const isRemoved = error.status === 404;
      this.#note.textContent = isRemoved ? "This user was removed. These are the last values." : error.message;
    }
    this.#render();
  }

  #render() {
    const drafts = this.#app.drafts.ofUser(this.#id);
    const names = new Set([...(this.#user?.values.keys() ?? []), ...drafts.map(({ attribute }) => attribute)]);
    for (const fixed of ["hair_color", "name"]) if (this.#user) names.delete(fixed);
    const ordered = [...(this.#user ? ["name", "hair_color"] : []), ...names];
    for (const [name, row] of this.#rows) {
      if (ordered.includes(name)) continue;
      row.element.remove();
      this.#rows.delete(name);
    }
    for (const name of ordered) {
      if (!this.#rows.has(name)) this.#addRow(name);
      this.#renderRow(name);
    }
  }

  #addRow(name) {
    const content = element("dd", {});
    const edit = this.#app.about.isReadOnly ? null
      : button("Edit", () => this.#edit(name), { class: "small", "aria-label": `Edit ${plainText(name)}` });
    const kind = element("span", { class: "kind" });
    const row = element("div", { class: "value-row" },
      element("dt", {}, element("bdi", {}, visibleText(name)), kind), content,
      // A definition list may contain only terms and details.
      edit && element("dd", { class: "value-edit" }, edit));
    this.#rows.set(name, { element: row, content, kind, edit, value: null });
    this.#list.append(row);
  }

  #renderRow(name) {
    const row = this.#rows.get(name);
    const draft = this.#app.drafts.get(this.#id, name);
    if (row.edit) row.edit.hidden = Boolean(draft);
    if (draft) {
      draft.host = this;
      const editor = draft.editor ?? new CellEditor(draft, this.#actions);
      if (editor.element.parentElement !== row.content) row.content.replaceChildren(editor.element);
      editor.update();
      row.value = null;
      return;
    }
    const value = this.#app.writes.pendingValue(this.#id, name) ?? this.#user?.value(name) ?? unset;
    if (row.value && sameValue(row.value, value)) return;
    row.value = value;
    row.kind.textContent = value.kind === "unset" ? "" : kindInWords(value);
    row.content.replaceChildren(fullValue(value));
  }

  #edit(name) {
    const { drafts, writes } = this.#app;
    const value = writes.pendingValue(this.#id, name) ?? this.#user?.value(name) ?? unset;
    drafts.open(this.#id, name, value).host = this;
    this.#render();
    drafts.get(this.#id, name).editor.focus();
  }

  /** A form for the name of a new attribute, whose value is then edited like the others. */
  #newAttribute() {
    const field = element("input", {
      type: "text", "aria-label": "Name of a new attribute", placeholder: "new attribute", maxlength: "200",
      required: true, spellcheck: "false", autocomplete: "off",
    });
    const problem = element("p", { class: "form-problem", id: uniqueID("new-attribute") });
    field.setAttribute("aria-describedby", problem.id);
    this.#newName = field;
    return element("form", { class: "new-attribute", on: {
      input: () => { problem.textContent = ""; },
      submit: (event) => {
        event.preventDefault();
        const name = field.value;
        if (name === "id") {
          problem.textContent = "“id” is the number of the user. It cannot be an attribute.";
          this.#app.announcer.announce(problem.textContent, "form");
          return;
        }
        field.value = "";
        this.#edit(name);
      },
    } }, field, element("button", { type: "submit", class: "small" }, "Add attribute"), problem);
  }
}
