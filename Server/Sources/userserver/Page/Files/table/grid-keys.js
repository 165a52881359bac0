/**
 * A grid's keyboard, as WAI-ARIA describes it: one tab stop, which the arrow keys move.
 *
 * The active cell is identified by its row's id and its column's name, so that it follows the row.
 */
const pageRows = 10;

export class GridKeys {
  /** The active cell as {row, column}; row is null for the header. */
  active = { row: null, column: "id" };
  #table;
  #source;

  /**
   * source: rows() and columns() return ids and names in order, cell(row, column) the element; enter(row, column,
   * event) acts on a cell.
   */
  constructor(table, source) {
    this.#table = table;
    this.#source = source;
    table.addEventListener("keydown", (event) => this.#key(event));
    table.addEventListener("focusin", (event) => this.#focused(event));
  }

  /** Makes the active cell the tab stop; if it is gone, activates the nearest one. */
  update() {
    const { row, column } = this.active;
    if (!this.#cell()) {
      const columns = this.#source.columns();
      this.active = {
        row: row === null || this.#source.rows().includes(row) ? row : this.#source.rows()[0] ?? null,
        column: columns.includes(column) ? column : columns[0],
      };
    }
    const cell = this.#cell();
    if (cell?.tabIndex === 0) return;
    for (const old of this.#table.querySelectorAll('[tabindex="0"]')) old.tabIndex = -1;
    if (cell) cell.tabIndex = 0;
  }

  focus(row, column) {
    this.active = { row, column };
    this.update();
    const cell = this.#cell();
    cell?.focus({ preventScroll: true });
    cell?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  #cell() {
    return this.#source.cell(this.active.row, this.active.column);
  }

  #focused({ target }) {
    const cell = target.closest("td, th");
    if (!cell) return;
    const row = cell.parentElement.dataset.user ?? null;
    this.active = { row, column: cell.dataset.attribute ?? cell.dataset.column };
    this.update();
  }

  #key(event) {
    if (event.altKey || event.metaKey || !event.target.closest("td, th")) return;
    const rows = [null, ...this.#source.rows()];
    const columns = this.#source.columns();
    const y = rows.indexOf(this.active.row);
    const x = columns.indexOf(this.active.column);
    const go = (newY, newX) => {
      event.preventDefault();
      const bounded = (index, count) => Math.max(0, Math.min(count - 1, index));
      this.focus(rows[bounded(newY, rows.length)], columns[bounded(newX, columns.length)]);
    };
    switch (event.key) {
      case "ArrowUp": return go(y - 1, x);
      case "ArrowDown": return go(y + 1, x);
      case "ArrowLeft": return go(y, x - 1);
      case "ArrowRight": return go(y, x + 1);
      case "PageUp": return go(Math.max(1, y - pageRows), x);
      case "PageDown": return go(y + pageRows, x);
      case "Home": return go(event.ctrlKey ? 0 : y, 0);
      case "End": return go(event.ctrlKey ? rows.length - 1 : y, columns.length - 1);
      case "Enter":
      case "F2":
      case " ":
        event.preventDefault();
        return this.#source.enter(this.active.row, this.active.column, event);
    }
  }
}
