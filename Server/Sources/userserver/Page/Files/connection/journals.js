/**
 * The events that a window needs when it joins an open stream.
 *
 * A journal collects the events of a stream, and returns those from which a new window reaches the same state.
 */
import { stringify } from "../shared/json.js";
import { ListModel } from "../table/list-model.js";
import { userJSON } from "../shared/user.js";

const logEvents = 500;
const logLength = 4 << 20;
const listLength = 1 << 20;

class Journal {
  events = [];
  length = 0;

  /** Adds an event. `isNew` makes earlier events obsolete, and each progress event replaces the one before it. */
  take(event, isNew) {
    if (isNew) this.replace([]);
    const last = this.events.at(-1);
    if (event.event === "progress" && last?.event === "progress") this.length -= this.events.pop().data.length;
    this.events.push(event);
    this.length += event.data.length;
  }

  replace(events) {
    this.events = events;
    this.length = events.reduce((length, { data }) => length + data.length, 0);
  }
}

/** The newest events of /changes. */
export class LogJournal extends Journal {
  add(events) {
    for (const event of events) this.take(event, event.event === "opened" && event.data !== "resumed");
    let surplus = 0;
    while (surplus < this.events.length - 1 && this.#isTooLong(surplus)) {
      this.length -= this.events[surplus].data.length;
      surplus += 1;
    }
    this.events.splice(0, surplus);
  }

  #isTooLong(surplus) {
    return this.events.length - surplus > logEvents || this.length > logLength;
  }

  replay() {
    return [{ event: "opened", data: "anew" }, ...this.events];
  }
}

/** The rows of /lists and the steps after them; long steps are applied to the rows. */
export class ListJournal extends Journal {
  #limit = listLength;

  add(events) {
    for (const event of events) {
      const isNew = ["opened", "users"].includes(event.event);
      if (isNew) this.#limit = listLength;
      this.take(event, isNew);
    }
    if (this.length > this.#limit) this.#fold();
  }

  #fold() {
    const model = new ListModel();
    for (const event of this.events) model.apply(event);
    // Incomplete rows cannot be folded.
    if (!model.isComplete) return;
    const rows = new Map([["revision", model.revision], ["rows", model.users.map(userJSON)], ["last", true]]);
    this.replace([{ event: "opened", data: "anew" }, { event: "rows", data: stringify(rows) }]);
    this.#limit = Math.max(listLength, 2 * this.length);
  }

  replay() {
    return [...this.events];
  }
}
