/** The number of all users who meet a list's conditions, and of those before the page. */
import { integer } from "../shared/json.js";

/** The shortest time between two counts, each of which reads all users. */
const interval = 3_000;

export class ListTotal {
  /** The number of all users, and of those before the page; null before they are counted. */
  all = null;
  before = 0;
  #api;
  #onChange;
  #query = null;
  #timer = null;
  #last = -Infinity;
  #isStale = false;

  constructor(api, onChange) {
    this.#api = api;
    this.#onChange = onChange;
  }

  close() {
    this.#query = null;
    clearTimeout(this.#timer);
  }

  use(query) {
    if (query.filterText !== this.#query?.filterText) this.all = null;
    this.before = query.after === "" ? 0 : null;
    this.#query = query;
    clearTimeout(this.#timer);
    this.#timer = null;
  }

  /** Notes that the list, or other users, may have changed. */
  changed({ isComplete, users }) {
    const { after, limit } = this.#query;
    if (isComplete && after === "" && users.length < limit) this.all = users.length;
    else this.#countSoon();
  }

  #countSoon() {
    this.#isStale = true;
    const isKnown = this.all !== null && this.before !== null;
    const delay = isKnown ? Math.max(0, this.#last + interval - performance.now()) : 0;
    this.#timer ??= setTimeout(() => this.#count(), delay);
  }

  async #count() {
    const query = this.#query;
    this.#isStale = false;
    this.#last = performance.now();
    let json = null;
    try {
      ({ json } = await this.#api.get(`/users?${query.countText}`));
    } catch {
      // The list is shown without its total; its stream reports the problem.
    }
    if (query !== this.#query) return;
    if (json) [this.all, this.before] = ["count", "before"].map((name) => integer(json.get(name)) ?? null);
    this.#timer = null;
    if (this.#isStale) this.#countSoon();
    this.#onChange();
  }
}
