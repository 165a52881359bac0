/** The table of users: a WAI-ARIA grid whose rows do not move while somebody works in it. */
import { plainText } from "../shared/characters.js";
import { element } from "../shared/dom.js";
import { inNextFrame } from "../shared/frames.js";
import { GridKeys } from "./grid-keys.js";
import { RowOrder } from "./row-order.js";
import { UserRow, removeColumn } from "./users-row.js";

/** The largest number of columns; further attributes are only in a user's dialog. */
const maximumColumns = 40;
/** The largest number of marked changes in one frame; nobody could see more. */
const maximumMarks = 40;

export class UsersGrid {
  element;
  order = new RowOrder();
  #table;
  #head;
  #columnGroup;
  #body;
  #keys;
  #rows = new Map();
  #columns = ["id", "name", "hair_color"];
  #users = new Map();
  #wanted = [];
  #sort = [];
  #context;
  #actions;
  #isHovered = false;
  #stale = new Set();
  #before = 0;
  #pressed = null;

  /** context: see UserRow. actions: sort(attribute, isAdded), edit(user, attribute), release(). */
  constructor(context, actions) {
    this.#context = context;
    this.#actions = actions;
    this.#build();
    this.#keys = new GridKeys(this.#table, {
      rows: () => this.order.shown,
      columns: () => this.#shownColumns,
      cell: (row, column) => row === null ? this.#headCell(column) : this.#rows.get(row)?.cell(column) ?? null,
      enter: (row, column, event) => this.#enter(row, column, event),
    });
    this.#renderHead();
  }

  get #shownColumns() {
    return this.#context.isReadOnly ? this.#columns : [...this.#columns, removeColumn];
  }

  #build() {
    this.#columnGroup = element("colgroup");
    this.#head = element("tr", { role: "row", "aria-rowindex": "1" });
    this.#body = element("tbody", { role: "rowgroup" });
    this.#table = element("table", {
      role: "grid", "aria-label": "Users", "aria-readonly": String(this.#context.isReadOnly), class: "users",
    },
      this.#columnGroup, element("thead", { role: "rowgroup" }, this.#head), this.#body);
    this.element = element("div", { class: "grid-scroll" }, this.#table);
    this.#body.addEventListener("pointerenter", ({ pointerType }) => { this.#isHovered = pointerType === "mouse"; });
    this.#body.addEventListener("pointerleave", () => {
      this.#isHovered = false;
      this.#actions.release();
    });
    this.#body.addEventListener("focusout", () => setTimeout(() => this.#hasFocus || this.#actions.release()));
    this.#body.addEventListener("dblclick", ({ target }) => this.#editAt(target));
    // The first click activates a cell, and the next one edits it, because touch has no double click.
    this.#body.addEventListener("pointerdown", ({ target }) => {
      const cell = target.closest("td");
      this.#pressed = cell && document.activeElement === cell ? cell : null;
    });
    this.#body.addEventListener("click", ({ target }) => {
      const cell = target.closest("td");
      if (cell && cell === this.#pressed && getSelection().isCollapsed) this.#editAt(target);
    });
  }

  // MARK: Rows

  get isHeld() {
    return this.#isHovered || this.#hasFocus || this.#context.drafts.size > 0;
  }

  get #hasFocus() {
    return this.#body.contains(document.activeElement);
  }

  /** Shows a list's users. `updated` are the ids of those with new values; without it, all may be new. */
  show(users, { updated = null, applies = false } = {}) {
    const marks = updated !== null && updated.length <= maximumMarks;
    this.#wanted = users.map(({ id }) => id);
    for (const user of users) this.#users.set(user.id, user);
    this.#addColumns(updated === null ? users : updated.map((id) => this.#users.get(id)));
    const isHeld = this.isHeld && !applies;
    const before = this.order.shown;
    this.order.update(this.#wanted, { isHeld, pinned: this.#context.drafts.users });
    if (this.order.shown !== before || updated === null) this.#renderOrder();
    const listed = new Set(this.#wanted);
    const hasOthers = this.#rows.size !== listed.size;
    const stale = updated === null || hasOthers ? this.order.shown : new Set([...updated, ...this.#stale]);
    for (const id of stale) this.#renderRow(id, listed, marks);
    this.#stale.clear();
    this.#keys.update();
    this.#table.setAttribute("aria-colcount", this.#shownColumns.length);
  }

  /** Renders a row again in the next frame, after its drafts or pending writes have changed. */
  refresh(id) {
    this.#stale.add(id);
    inNextFrame(this.#refreshStale);
  }

  /** Renders a row at once, so that its cells can receive the focus. */
  refreshNow(id) {
    this.#renderRow(id, new Set(this.#wanted), false);
    this.#keys.update();
  }

  #refreshStale = () => {
    const listed = new Set(this.#wanted);
    for (const id of this.#stale) this.#renderRow(id, listed, false);
    this.#stale.clear();
  };

  /** Announces the place of the rows among all; `before` is the number of earlier ones, null if unknown. */
  showPlace({ all, before }) {
    this.#table.setAttribute("aria-rowcount", all === null ? -1 : all + 1);
    if (before === this.#before) return;
    this.#before = before;
    this.#numberRows();
  }

  /** The head is row 1. */
  #numberRows() {
    this.order.shown.forEach((id, index) =>
      this.#rows.get(id).element.setAttribute("aria-rowindex", (this.#before ?? 0) + index + 2));
  }

  focus(id, attribute) {
    this.#keys.focus(id, attribute);
  }

  #renderRow(id, listed, marksChanges) {
    const row = this.#rows.get(id);
    const user = this.#users.get(id);
    if (!row || !user) return;
    row.update(user, { isListed: listed.has(id), marksChanges });
  }

  #renderOrder() {
    const focused = this.#body.contains(document.activeElement) ? document.activeElement : null;
    const shown = new Set(this.order.shown);
    for (const [id, row] of this.#rows) {
      if (shown.has(id)) continue;
      row.element.remove();
      this.#rows.delete(id);
      if (!this.#wanted.includes(id)) this.#users.delete(id);
    }
    this.order.shown.forEach((id, index) => {
      if (!this.#rows.has(id)) this.#addRow(id);
      const row = this.#rows.get(id).element;
      const present = this.#body.children[index] ?? null;
      if (present !== row) this.#body.insertBefore(row, present);
    });
    this.#numberRows();
    if (focused?.isConnected && document.activeElement !== focused) focused.focus({ preventScroll: true });
  }

  #addRow(id) {
    const row = new UserRow(this.#users.get(id), this.#context);
    row.setColumns(this.#shownColumns);
    this.#rows.set(id, row);
  }

  // MARK: Columns

  #addColumns(users) {
    const known = new Set(this.#columns);
    const found = new Set();
    for (const user of users) {
      for (const name of user?.values.keys() ?? []) if (!known.has(name)) found.add(name);
    }
    if (found.size === 0 || this.#columns.length >= maximumColumns) return;
    const [id, name, hairColor, ...others] = this.#columns;
    const sorted = [...others, ...found].sort().slice(0, maximumColumns - 3);
    this.#columns = [id, name, hairColor, ...sorted];
    this.#renderHead();
    for (const row of this.#rows.values()) row.setColumns(this.#shownColumns);
    for (const shown of this.order.shown) this.#stale.add(shown);
  }

  /** Marks the columns of the sort keys {attribute, isDescending}. */
  set sort(keys) {
    this.#sort = keys;
    this.#renderHead();
  }

  #renderHead() {
    const columns = this.#shownColumns;
    this.#columnGroup.replaceChildren(...columns.map((name) => element("col", { class: columnClass(name) })));
    const focused = this.#head.contains(document.activeElement);
    this.#head.replaceChildren(...columns.map((name, index) => this.#makeHeadCell(name, index)));
    this.#table.style.minWidth = `${columns.reduce((width, name) => width + widths[columnClass(name)], 0)}rem`;
    if (!this.#keys) return;
    this.#keys.update();
    if (focused) this.#keys.focus(this.#keys.active.row, this.#keys.active.column);
  }

  #makeHeadCell(name, index) {
    const attributes = {
      role: "columnheader", scope: "col", tabindex: "-1", "aria-colindex": index + 1, data: { column: name },
    };
    if (name === removeColumn) {
      return element("th", attributes, element("span", { class: "visually-hidden" }, "Remove"));
    }
    const place = this.#sort.findIndex(({ attribute }) => attribute === name);
    const key = this.#sort[place];
    const direction = key ? (key.isDescending ? "descending" : "ascending") : "none";
    return element("th", {
      ...attributes, "aria-sort": direction, title: "Sort by this attribute. With Shift, add it as a further key.",
      on: { click: (event) => this.#actions.sort(name, event.shiftKey) },
    },
    element("bdi", {}, plainText(name)),
    element("span", { class: "sort-mark", "aria-hidden": "true" },
      key ? `${key.isDescending ? "▼" : "▲"}${this.#sort.length > 1 ? place + 1 : ""}` : ""));
  }

  #headCell(name) {
    return [...this.#head.children].find((cell) => cell.dataset.column === name) ?? null;
  }

  // MARK: Actions

  #enter(row, column, event) {
    if (row === null) {
      if (column !== removeColumn) this.#actions.sort(column, event.shiftKey);
      return;
    }
    const user = this.#users.get(row);
    if (column === "id") this.#context.open(user);
    else if (column === removeColumn) this.#context.remove(user);
    else if (event.key !== " ") this.#actions.edit(user, column);
  }

  #editAt(target) {
    const cell = target.closest("td");
    const row = cell?.closest("tr").dataset.user;
    const attribute = cell?.dataset.attribute;
    if (!row || attribute === "id" || attribute === removeColumn || target.closest(".editor")) return;
    this.#actions.edit(this.#users.get(row), attribute);
  }
}

/** The widths of columns in rem, as in page.css. */
const widths = { "column-id": 5, "column-name": 11, "column-value": 9.5, "column-remove": 3 };

function columnClass(name) {
  if (name === "id") return "column-id";
  if (name === "name") return "column-name";
  return name === removeColumn ? "column-remove" : "column-value";
}
