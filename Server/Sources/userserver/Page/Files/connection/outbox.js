/** What the server's database has to send to a server of its own, if it is a replica: a badge beside the state. */
import { counted, setText } from "../shared/dom.js";
import { integer } from "../shared/json.js";

/** Acceptance changes no user, so that no event says it. */
const interval = 2_000;
const afterChange = 100;

export class Outbox {
  #api;
  #badge = document.getElementById("outbox");
  #timer = null;
  /** How often the number was asked for: an earlier answer that comes later does not count. */
  #asked = 0;

  constructor({ api, about, feed }) {
    this.#api = api;
    if (about.replica === null) return;
    this.#show(about.replica);
    feed.updates.add(() => this.#readIn(afterChange));
    document.addEventListener("visibilitychange", () => this.#readIn(0));
  }

  #readIn(delay) {
    if (document.hidden) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#read(), delay);
  }

  async #read() {
    const number = (this.#asked += 1);
    const start = performance.now();
    try {
      const { json } = await this.#api.get("/about");
      if (number !== this.#asked) return;
      this.#show(json.get("replica"));
    } catch {
      // The state line shows that there is no connection.
    }
    // What nobody has taken in is counted set by set.
    if (!this.#badge.hidden && number === this.#asked) this.#readIn(Math.max(interval, 10 * (performance.now() - start)));
  }

  #show(replica) {
    const [pending, refusals] = ["pending", "refusals"].map((name) => integer(replica?.get(name)) ?? 0);
    const parts = [pending > 0 && `${counted(pending, "write")} to send`, refusals > 0 && `${refusals} refused`];
    setText(this.#badge, parts.filter(Boolean).join(", "));
    this.#badge.hidden = pending + refusals === 0;
    this.#badge.title = `${replica?.get("server")} has not decided what is to send; usertool sync shows it, and what is refused.`;
  }
}
