/**
 * The order of the shown rows.
 *
 * While the pointer or the focus is in the table, rows do not move: removed rows remain, and new ones wait, except at
 * the end, where they move nothing.
 */
export class RowOrder {
  shown = [];
  /** The waiting changes, as {added, removed, isReordered}; null if the rows are in their final order. */
  waiting = null;

  /**
   * Sets the wanted order. `isHeld`: rows must not move. `pinned`: ids of rows that must remain, even if they have
   * left the list.
   */
  update(wanted, { isHeld, pinned }) {
    const next = isHeld ? this.#appended(wanted) : this.#withPinned(wanted, pinned);
    if (!isEqual(next, this.shown)) this.shown = next;
    this.waiting = isHeld ? difference(next, wanted, pinned) : null;
  }

  /** The shown rows, followed by the new rows at the end. */
  #appended(wanted) {
    const shown = new Set(this.shown);
    if (shown.size === 0) return [...wanted];
    let start = wanted.length;
    while (start > 0 && !shown.has(wanted[start - 1])) start -= 1;
    const tail = wanted.slice(start);
    return tail.length === 0 ? this.shown : [...this.shown, ...tail];
  }

  /** The wanted rows, with each pinned row after the one that it followed. */
  #withPinned(wanted, pinned) {
    const listed = new Set(wanted);
    const result = [...wanted];
    this.shown.forEach((id, index) => {
      if (listed.has(id) || !pinned.has(id)) return;
      const place = index === 0 ? 0 : result.indexOf(this.shown[index - 1]) + 1;
      result.splice(place, 0, id);
    });
    return result;
  }
}

function difference(shown, wanted, pinned) {
  const before = new Set(shown);
  const after = new Set(wanted);
  const added = wanted.filter((id) => !before.has(id)).length;
  const removed = shown.filter((id) => !after.has(id) && !pinned.has(id)).length;
  const isReordered = !isEqual(shown.filter((id) => after.has(id)), wanted.filter((id) => before.has(id)));
  return added + removed > 0 || isReordered ? { added, removed, isReordered } : null;
}

const isEqual = (a, b) => a === b || (a.length === b.length && a.every((id, index) => id === b[index]));
