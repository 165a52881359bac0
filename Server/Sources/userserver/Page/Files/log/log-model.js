/**
 * The newest changes of the log.
 *
 * Holds at most 500 rows that meet the filter, a longer history so that another filter finds rows at once, and, while
 * paused, the waiting rows. All changes are counted, including those that are not held.
 */
import { integer, parse } from "../shared/json.js";
import { decodeValue, purged, unset } from "../shared/values.js";

export const shownRows = 500;
/** The number of the log's last rows with which the stream begins. */
export const firstRows = 100;
const historyRows = 5_000;
const historyLength = 16 << 20;

export class LogModel {
  /** The rows to show, oldest first: changes {set, op, user, attribute, old, new} and notes {note}. */
  rows = [];
  /** The number of changes received since the page was opened. */
  count = 0;
  /** The number of rows that wait while the log is paused. */
  waiting = 0;
  revision = 0;
  /** Whether there are changes before those that are held. */
  hasOlder = false;
  isPaused = false;
  filter = { attribute: "", op: "", user: "" };
  #history = [];
  #historyLength = 0;
  #waitingRows = [];
  #store = null;
  #openSet = null;
  /** After a gap, the last revision before it. */
  #known = null;
  #sawKnown = false;
  /** The cursor before the next set; null if the stream's start is unknown. */
  #cursor = null;
  #isFiltered;
  /** Past rows that meet the filter. */
  #past = [];
  #isBeginning = false;

  /** isFiltered: whether the events omit changes of sets. */
  constructor({ isFiltered = false } = {}) {
    this.#isFiltered = isFiltered;
    if (isFiltered) this.#cursor = "oldest";
  }

  get allRows() {
    return [...this.#history];
  }

  /** Puts past changes, which meet the filter, before those that are held. */
  showPast(past) {
    this.#past = past;
    const boundary = this.#history.find(({ set }) => set)?.set.revision ?? Infinity;
    const older = past.filter(({ set }) => set && set.revision <= boundary);
    // Possibly only the end of the first set is held.
    const isWhole = older.at(-1)?.set.revision === boundary;
    const waiting = new Set(this.#waitingRows);
    const held = this.#history.filter((row) =>
      this.#meets(row) && !waiting.has(row) && !(isWhole && row.set?.revision === boundary));
    this.rows = [...older, ...held];
  }

  /** Applies an event of GET /changes; returns the changes of a set, or an empty array. */
  apply({ event, data, id }) {
    const changes = this.#apply({ event, data, id });
    if (id) this.#cursor = id;
    return changes;
  }

  #apply({ event, data, id }) {
    switch (event) {
      case "opened": this.#opened(data === "resumed"); break;
      case "hello": this.#hello(parse(data)); break;
      case "changes": return this.#takeSet(parse(data), id);
      case "progress": this.#progress(parse(data)); break;
      case "reset": this.#addNote(noteOfReset(parse(data).get("reason"))); break;
    }
    return [];
  }

  /** Prepares for events that this window missed: the newest come again, and known ones are skipped. */
  catchUp() {
    this.#known = this.revision;
  }

  pause() {
    this.isPaused = true;
  }

  resume() {
    this.isPaused = false;
    const missing = this.waiting - this.#waitingRows.length;
    if (missing > 0) this.rows.push({ note: `${missing.toLocaleString("en")} changes are not shown here.` });
    this.rows.push(...this.#waitingRows.splice(0));
    this.waiting = 0;
    this.#trim(this.rows, shownRows);
  }

  /** The changes of a set to a user; null if the set is not held in full. */
  changesOf(set, user) {
    const changes = this.#history.filter((row) => row.set === set);
    return set.isCut || changes.length < set.length ? null : changes.filter((row) => row.user === user);
  }

  setFilter(filter) {
    this.filter = filter;
    this.#past = [];
    this.#waitingRows = [];
    this.waiting = 0;
    this.rows = this.#history.filter((row) => this.#meets(row));
    this.#trim(this.rows, shownRows);
  }

  // MARK: Events

  #opened(isResumed) {
    // If a set's last part is missing, its parts come again after a reconnect.
    if (this.#openSet) this.#remove(this.#openSet);
    this.#openSet = null;
    if (isResumed || this.#known !== null) return;
    this.#removeIf(() => true);
    this.count = 0;
    this.#isBeginning = true;
  }

  #progress(json) {
    this.#reached(integer(json.get("revision")));
    if (!this.#isBeginning) return;
    this.#isBeginning = false;
    if (this.#past.length > 0) this.showPast(this.#past);
  }

  #hello(json) {
    const store = json.get("store");
    if (this.#store !== null && this.#store !== store) {
      this.revision = 0;
      this.#addNote("The log is another one from here on.");
    }
    this.#store = store;
    if (this.#isBeginning) this.hasOlder = integer(json.get("revision")) > firstRows;
    // The revision is reached only after the remaining sets of this stream.
  }

  #takeSet(json, cursor) {
    const set = this.#openSet ?? { ...decodeSet(json), before: this.#cursor, isFiltered: this.#isFiltered };
    if (this.#known !== null) {
      if (set.revision <= this.#known) {
        this.#sawKnown = true;
        return [];
      }
      if (!this.#sawKnown) this.#addNote("This window did not keep up. Changes are missing here.");
      this.#known = null;
      this.#sawKnown = false;
    }
    const changes = json.get("changes").map((change) => decodeChange(change, set));
    if (changes.length > 0 && set.length === 0) changes[0].isFirst = true;
    set.length += changes.length;
    this.count += changes.length;
    for (const change of changes) this.#add(change);
    this.#openSet = json.get("last") === true ? null : set;
    if (!this.#openSet) {
      set.cursor = cursor ?? null;
      this.#reached(set.revision);
    }
    return changes;
  }

  #reached(revision) {
    this.revision = Math.max(this.revision, revision);
  }

  #addNote(note) {
    this.#add({ note });
  }

  #add(row) {
    this.#history.push(row);
    this.#historyLength += lengthOf(row);
    while (this.#history.length > historyRows * 1.2 || this.#historyLength > historyLength) {
      const surplus = Math.max(1, this.#history.length - historyRows);
      for (const old of this.#history.splice(0, surplus)) this.#historyLength -= lengthOf(old);
      this.hasOlder = true;
      if (this.#history.length <= 1) break;
    }
    if (!this.#meets(row)) return;
    if (this.isPaused) {
      this.waiting += row.note ? 0 : 1;
      this.#waitingRows.push(row);
      this.#trim(this.#waitingRows, shownRows);
    } else {
      this.rows.push(row);
      this.#trim(this.rows, shownRows);
    }
  }

  /** Removes the oldest rows in blocks, since removing from the front of an array is slow. */
  #trim(rows, limit) {
    if (rows.length > limit * 2) rows.splice(0, rows.length - limit);
  }

  #remove(set) {
    const before = this.count;
    this.#removeIf((row) => row.set === set);
    this.count = before - set.length;
  }

  #removeIf(condition) {
    const waiting = this.#waitingRows.length;
    this.rows = this.rows.filter((row) => !condition(row));
    this.#history = this.#history.filter((row) => !condition(row));
    this.#waitingRows = this.#waitingRows.filter((row) => !condition(row));
    this.waiting = Math.max(0, this.waiting - (waiting - this.#waitingRows.length));
    this.#historyLength = this.#history.reduce((length, row) => length + lengthOf(row), 0);
  }

  #meets(row) {
    if (row.note) return true;
    const { attribute, op, user } = this.filter;
    return (!attribute || row.attribute === attribute) && (!op || row.op === op) && (!user || row.user === user);
  }
}

function decodeSet(json) {
  return {
    revision: integer(json.get("revision")),
    at: json.get("changes").at(-1)?.get("at"),
    origin: json.get("origin") ?? null,
    isForeign: json.get("foreign") === true,
    isCut: json.get("cut") === true,
    purgedUsers: new Set(),
    lag: integer(json.get("lag_ms")) ?? null,
    cursor: null,
    length: 0,
  };
}

/** A change from the JSON of an event or a page; `set` is that of its earlier changes. */
export function decodeChange(json, set) {
  const op = json.get("op");
  if (op === "event") return decodeEvent(json, set);
  const attribute = json.get("attribute");
  const user = json.get("user").source;
  // The log does not mark the purged color of an added or removed user; it was purged if the name was.
  const isPurged = json.get("purged") === true
    || (attribute === "hair_color" && op !== "update" && set.purgedUsers.has(user));
  if (isPurged) set.purgedUsers.add(user);
  return {
    set,
    op,
    user,
    attribute,
    old: isPurged && op !== "insert" ? purged : decodeValue(json.get("old")),
    new: isPurged && op !== "delete" ? purged : decodeValue(json.get("new")),
    isPurged,
  };
}

/** An event as a row: its payload is the new value, and it changes no attribute. */
function decodeEvent(json, set) {
  return {
    set, op: "event", event: json.get("event"), user: json.get("user")?.source ?? "", attribute: "", old: unset,
    new: decodeValue(json.get("payload")), isPurged: false,
  };
}

function lengthOf(row) {
  if (row.note) return row.note.length;
  return 64 + size(row.old) + size(row.new);
}

const size = (value) => (value.text ?? value.base64 ?? "").length;

function noteOfReset(reason) {
  switch (reason) {
    case "compacted": return "Changes are missing here: they were deleted from the log.";
    case "diverged": return "The log is another one from here on.";
    case "replaced": return "Another database was put in place of this one.";
    default: return "The log was read anew from here on.";
  }
}
