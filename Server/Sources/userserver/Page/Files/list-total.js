/** The number of all users who meet the conditions of a list, if the list does not have all of them. */
import { integer } from "./json.js";

/** How long to wait after a change: counting reads all users. */
const interval = 3_000;

export class ListTotal {
  value = null;
  #api;
  #onChange;
  #query = null;
  #timer = null;

  constructor(api, onChange) {
    this.#api = api;
    this.#onChange = onChange;
  }

  close() {
    clearTimeout(this.#timer);
  }

  /** Starts with another query. */
  use(query) {
    if (query.countText !== this.#query?.countText) this.value = null;
    this.#query = query;
  }

  /** Takes note of a list that has changed. */
  changed(model) {
    const isWhole = model.isComplete && this.#query.after === "" && model.users.length < this.#query.limit;
    if (isWhole) this.value = model.users.length;
    else this.#timer ??= setTimeout(() => this.#count(), this.value === null ? 0 : interval);
  }

  async #count() {
    const query = this.#query;
    try {
      const { json } = await this.#api.get(`/users?${query.countText}`);
      if (query === this.#query) this.value = integer(json.get("count")) ?? null;
    } catch {
      // The list is shown without its total; its stream says what is wrong.
    }
    this.#timer = null;
    this.#onChange();
  }
}
