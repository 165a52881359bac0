/**
 * A row of the table of users, whose cells are rendered only after a change of the value, draft, or pending write.
 */
import { CellEditor } from "../editing/cell-editor.js";
import { button, element, setText } from "../shared/dom.js";
import { sameValue } from "../shared/values.js";
import { shortValue } from "../shared/value-view.js";

const canAnimate = () => !matchMedia("(prefers-reduced-motion: reduce)").matches;

export class UserRow {
  element;
  user;
  #context;
  #cells = new Map();
  #note;

  /** context: {drafts, writes, editorActions, isReadOnly, open(user), remove(user)}. */
  constructor(user, context) {
    this.user = user;
    this.#context = context;
    this.element = element("tr", { role: "row", data: { user: user.id } });
    this.#note = element("span", { class: "row-note", title: "No longer in this list" });
  }

  /** Makes the cells; `columns` are attributes, with id first. */
  setColumns(columns) {
    for (const [name, cell] of this.#cells) {
      if (!columns.includes(name)) {
        cell.element.remove();
        this.#cells.delete(name);
      }
    }
    columns.forEach((name, index) => {
      let cell = this.#cells.get(name);
      if (!cell) {
        cell = { element: this.#makeCell(name), state: null, flash: null };
        this.#cells.set(name, cell);
        if (name === "id") this.#fillID(cell.element);
        if (name === removeColumn) this.#fillRemove(cell.element);
      }
      cell.element.setAttribute("aria-colindex", index + 1);
      const present = this.element.children[index] ?? null;
      if (present !== cell.element) this.element.insertBefore(cell.element, present);
    });
  }

  #makeCell(name) {
    const isFixed = name === "id" || name === removeColumn;
    return element("td", {
      role: "gridcell", tabindex: "-1", "aria-readonly": isFixed && "true", data: { attribute: name },
    });
  }

  cell(name) {
    return this.#cells.get(name)?.element ?? null;
  }

  /** Shows a user, and marks a row that is no longer in the list. */
  update(user, { isListed, marksChanges }) {
    this.user = user;
    setText(this.#note, isListed ? "" : "gone");
    this.element.classList.toggle("gone", !isListed || this.#context.writes.isRemoving(user.id));
    for (const [name, cell] of this.#cells) {
      if (name !== "id" && name !== removeColumn) this.#updateCell(name, cell, marksChanges);
    }
  }

  #updateCell(name, cell, marksChanges) {
    const draft = this.#context.drafts.get(this.user.id, name);
    if (draft && !draft.host) {
      this.#mountEditor(cell, draft);
      return;
    }
    const pending = this.#context.writes.pendingValue(this.user.id, name);
    const value = pending ?? this.user.value(name);
    const { state } = cell;
    if (state && state.isPending === Boolean(pending) && sameValue(state.value, value)) return;
    cell.state = { value, isPending: Boolean(pending) };
    cell.element.classList.remove("editing");
    cell.element.classList.toggle("pending", Boolean(pending));
    cell.element.dataset.kind = value.kind;
    cell.element.replaceChildren(shortValue(value));
    if (pending) cell.element.append(pendingMark());
    if (state && marksChanges && !sameValue(state.value, value)) flash(cell);
  }

  #mountEditor(cell, draft) {
    const editor = draft.editor ?? new CellEditor(draft, this.#context.editorActions);
    if (editor.element.parentElement !== cell.element) {
      cell.element.replaceChildren(editor.element);
      cell.element.classList.add("editing");
      cell.element.classList.remove("pending");
    }
    cell.state = null;
    editor.update();
  }

  #fillID(cell) {
    cell.append(button(this.user.id, () => this.#context.open(this.user), {
      class: "link", tabindex: "-1", title: "Show all values", "aria-label": `User ${this.user.id}, show all values`,
    }), this.#note);
  }

  #fillRemove(cell) {
    const label = `Remove user ${this.user.id}`;
    cell.append(button("×", () => this.#context.remove(this.user), {
      class: "small quiet", tabindex: "-1", "aria-label": label, title: label,
    }));
  }
}

/** The column with the buttons that remove users; no attribute has an empty name. */
export const removeColumn = "";

function pendingMark() {
  const title = "Saved. The stream has not confirmed it yet.";
  return element("span", { class: "pending-mark", title, role: "img", "aria-label": "pending" }, "◔");
}

/** Marks a cell for a moment; further changes do not restart the mark. */
function flash(cell) {
  if (cell.flash?.playState === "running" || document.hidden || !canAnimate()) return;
  const mark = { boxShadow: "inset 3px 0 var(--accent)", backgroundColor: "var(--flash)" };
  cell.flash = cell.element.animate([mark, {}], { duration: 1_200, easing: "ease-out" });
}
