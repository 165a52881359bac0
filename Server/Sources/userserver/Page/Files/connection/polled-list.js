/**
 * A list that is read again after changes, at most once a second.
 *
 * A browser opens only six connections to a server over HTTP/1.1. When the event streams have their share, further
 * lists are read this way, so that pages and edits never wait. The events are `opened` and `users`, whose data is the
 * answer to GET /users.
 */
import { isFinal, request } from "./request.js";

const interval = 1_000;
const longestDelay = 10_000;

export class PolledList {
  #path;
  #getToken;
  #report;
  #timer = null;
  #isRunning = false;
  #isReading = false;
  #isStale = false;
  #failures = 0;

  constructor(path, getToken, report) {
    this.#path = path;
    this.#getToken = getToken;
    this.#report = report;
  }

  start() {
    if (this.#isRunning) return;
    this.#isRunning = true;
    this.#report.status({ state: "connecting" });
    this.#report.events([{ event: "opened", data: "anew" }]);
    this.#read();
  }

  stop() {
    this.#isRunning = false;
    clearTimeout(this.#timer);
    this.#timer = null;
  }

  restart() {
    this.stop();
    this.start();
  }

  /** Notes that users have changed. */
  changed() {
    if (!this.#isRunning) return;
    this.#isStale = true;
    if (this.#timer === null && !this.#isReading) this.#timer = setTimeout(() => this.#read(), interval);
  }

  async #read() {
    this.#timer = null;
    this.#isReading = true;
    this.#isStale = false;
    const token = this.#getToken();
    try {
      const signal = AbortSignal.timeout(30_000);
      const response = await request(this.#path, token, "application/json", { signal });
      this.#take(response, await response.text(), token);
    } catch {
      this.#fail("the server cannot be reached");
    }
    this.#isReading = false;
    if (this.#isStale) this.changed();
  }

  #take(response, text, token) {
    if (!this.#isRunning) return;
    if (response.ok) {
      this.#failures = 0;
      this.#report.events([{ event: "users", data: text }]);
      this.#report.status({ state: "live", isPolled: true });
    } else if (response.status === 401) {
      this.#report.status({ state: "unauthorized", token });
    } else if (isFinal(response)) {
      this.#report.status({ state: "refused", problem: text });
    } else {
      this.#fail(`the server answered ${response.status}`);
    }
  }

  #fail(detail) {
    if (!this.#isRunning) return;
    const delay = Math.min(longestDelay, interval * 2 ** this.#failures);
    this.#failures += 1;
    this.#report.status({ state: "lost", detail, retryAt: Date.now() + delay });
    this.#timer = setTimeout(() => this.#read(), delay);
  }
}
