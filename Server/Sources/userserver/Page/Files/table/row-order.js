/**
 * The order in which rows are shown.
 *
 * While the pointer or the focus is in the table, rows stay where they are: removed rows remain, and new ones wait,
 * unless they belong at the end, where they move nothing.
 */
export class RowOrder {
  /** The ids of the rows that are shown. */
  shown = [];
  /** What waits, as {added, removed, isReordered}; null if the rows are as they should be. */
  waiting = null;

  /**
   * Takes the order that the rows should have. `isHeld`: rows must not move. `pinned`: ids of rows that must remain,
   * even if they have left the list.
   */
  update(wanted, { isHeld, pinned }) {
    const next = isHeld ? this.#appended(wanted) : this.#withPinned(wanted, pinned);
    if (!isEqual(next, this.shown)) this.shown = next;
    this.waiting = isHeld ? difference(next, wanted, pinned) : null;
  }

  /** The shown rows, and the new ones that come after all of them. */
  #appended(wanted) {
    const shown = new Set(this.shown);
    if (shown.size === 0) return [...wanted];
    let start = wanted.length;
    while (start > 0 && !shown.has(wanted[start - 1])) start -= 1;
    const tail = wanted.slice(start);
    return tail.length === 0 ? this.shown : [...this.shown, ...tail];
  }

  /** The wanted rows, and the pinned ones after those that they followed. */
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
