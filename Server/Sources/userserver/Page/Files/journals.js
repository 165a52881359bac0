/**
 * What a window needs that joins a stream which is already open.
 *
 * A journal takes the events of a stream, and returns those with which a new window arrives at the same state.
 */
import { stringify } from "./json.js";
import { ListModel } from "./list-model.js";
import { userJSON } from "./user.js";

const logEvents = 500;
const logLength = 4 << 20;
const listLength = 1 << 20;

/** The newest events of /changes. */
export class LogJournal {
  #events = [];
  #length = 0;

  add(events) {
    for (const event of events) {
      if (event.event === "opened" && event.data !== "resumed") this.#clear();
      // Of progress, only the newest counts.
      if (event.event === "progress" && this.#events.at(-1)?.event === "progress") this.#events.pop();
      this.#events.push(event);
      this.#length += event.data.length;
    }
    let surplus = 0;
    while (surplus < this.#events.length - 1 && this.#isTooLong(surplus)) {
      this.#length -= this.#events[surplus].data.length;
      surplus += 1;
    }
    this.#events.splice(0, surplus);
  }

  #isTooLong(surplus) {
    return this.#events.length - surplus > logEvents || this.#length > logLength;
  }

  #clear() {
    this.#events = [];
    this.#length = 0;
  }

  replay() {
    return [{ event: "opened", data: "anew" }, ...this.#events];
  }
}

/** The rows of /lists and the steps since; when the steps become long, they are applied to the rows. */
export class ListJournal {
  #events = [];
  #length = 0;
  #limit = listLength;

  add(events) {
    for (const event of events) {
      if (["opened", "users"].includes(event.event)) this.#clear();
      if (event.event === "progress" && this.#events.at(-1)?.event === "progress") this.#events.pop();
      this.#events.push(event);
      this.#length += event.data.length;
    }
    if (this.#length > this.#limit) this.#fold();
  }

  #clear() {
    this.#events = [];
    this.#length = 0;
    this.#limit = listLength;
  }

  #fold() {
    const model = new ListModel();
    for (const event of this.#events) model.apply(event);
    // Rows of which a part is missing cannot be folded yet.
    if (!model.isComplete) return;
    const rows = new Map([["revision", model.revision], ["rows", model.users.map(userJSON)], ["last", true]]);
    const data = stringify(rows);
    this.#events = [{ event: "opened", data: "anew" }, { event: "rows", data }];
    this.#length = data.length;
    this.#limit = Math.max(listLength, 2 * data.length);
  }

  replay() {
    return [...this.#events];
  }
}
