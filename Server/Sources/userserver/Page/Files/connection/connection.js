/**
 * One event stream of the server, with automatic reconnection.
 *
 * Reports statuses {state, detail, retryAt, store, heartbeat, problem} and batches of events. Each time the server
 * answers, the batch starts with the event `opened`, whose data is "resumed" if the stream continues after the last
 * id.
 */
import { eventsOf } from "./event-stream.js";
import { isFinal, request } from "./request.js";

const shortestDelay = 1_000;
const longestDelay = 10_000;
/** A stream that is silent for this many heartbeats is lost. */
const silentHeartbeats = 2.5;

export class Connection {
  #path;
  #getToken;
  #report;
  #abort = null;
  #retryTimer = null;
  #failures = 0;
  #lastID = null;
  #heartbeat = 15_000;
  #lastByte = 0;
  #watch = null;

  /**
   * path: the address with its query. getToken returns the token or null. report has `status(status)` and
   * `events(events)`.
   */
  constructor(path, getToken, report) {
    this.#path = path;
    this.#getToken = getToken;
    this.#report = report;
  }

  start() {
    if (this.#abort || this.#retryTimer !== null) return;
    this.#connect();
  }

  stop() {
    clearTimeout(this.#retryTimer);
    clearInterval(this.#watch);
    this.#retryTimer = null;
    this.#abort?.abort();
    this.#abort = null;
  }

  /** Connects at once, even while waiting for the next attempt. */
  restart() {
    this.stop();
    this.#failures = 0;
    this.#connect();
  }

  async #connect() {
    const abort = new AbortController();
    this.#abort = abort;
    this.#retryTimer = null;
    if (this.#failures === 0) this.#report.status({ state: "connecting" });
    this.#watchForSilence(abort);
    let ending;
    try {
      ending = await this.#read(abort);
    } catch (error) {
      ending = { detail: abort.signal.reason?.message ?? "the server cannot be reached" };
      if (error instanceof SyntaxError) ending.detail = error.message;
    }
    // After stop() or restart(), another attempt is running, or none is wanted.
    if (this.#abort !== abort) return;
    clearInterval(this.#watch);
    this.#abort = null;
    abort.abort();
    this.#end(ending);
  }

  /** Reads the stream to its end; returns the reason of the end. */
  async #read(abort) {
    const token = this.#getToken();
    const headers = this.#lastID === null ? {} : { "Last-Event-ID": this.#lastID };
    const response = await request(this.#path, token, "text/event-stream", { headers, signal: abort.signal });
    if (!response.ok) return this.#refusal(response, token);
    if (!response.headers.get("Content-Type")?.startsWith("text/event-stream")) {
      return { detail: "the answer is not an event stream" };
    }
    let reason = null;
    for await (const events of eventsOf(response)) {
      this.#lastByte = Date.now();
      if (events.length === 0 || this.#abort !== abort) continue;
      reason = this.#take(events) ?? reason;
    }
    if (reason === null) return { detail: "the stream broke off" };
    return { detail: `the server closed the stream: ${reason}`, isOrderly: true };
  }

  #take(events) {
    let reason = null;
    for (const { event, data, id } of events) {
      if (event === "closing") reason = JSON.parse(data).reason;
    }
    const hello = events.findIndex(({ event }) => event === "hello");
    if (hello >= 0) {
      const { store, heartbeat } = JSON.parse(events[hello].data);
      this.#heartbeat = heartbeat * 1_000;
      this.#failures = 0;
      this.#report.status({ state: "live", store, heartbeat });
      events.splice(hello, 0, { event: "opened", data: this.#lastID === null ? "anew" : "resumed" });
    }
    for (const { id } of events) {
      if (id !== undefined) this.#lastID = id === "" ? null : id;
    }
    this.#report.events(events);
    return reason;
  }

  async #refusal(response, token) {
    const text = await response.text();
    let problem = null;
    try {
      problem = JSON.parse(text);
    } catch {
      // A proxy may have answered with its own page.
    }
    const detail = problem?.detail ?? `the server answered ${response.status}`;
    const retryAfter = Number(response.headers.get("Retry-After"));
    return { status: response.status, token, detail, problem: text, isFinal: isFinal(response), retryAfter };
  }

  #end({ status, token, detail, problem, isFinal, retryAfter, isOrderly }) {
    if (status === 401) {
      this.#report.status({ state: "unauthorized", token, detail });
    } else if (isFinal) {
      this.#report.status({ state: "refused", detail, problem });
    } else {
      const delay = Math.max(this.#nextDelay(), (retryAfter || 0) * 1_000);
      this.#retryTimer = setTimeout(() => this.#connect(), delay);
      // The server ends each stream from time to time, which is a loss only if the next attempt fails.
      const state = isOrderly && this.#failures === 1 ? "connecting" : "lost";
      this.#report.status({ state, detail, retryAt: Date.now() + delay });
    }
  }

  #nextDelay() {
    const delay = shortestDelay * 2 ** this.#failures;
    this.#failures += 1;
    return Math.min(longestDelay, Math.max(shortestDelay, delay * (0.75 + Math.random() / 2)));
  }

  /** Ends an attempt that is silent for too long, and reports that at once. */
  #watchForSilence(abort) {
    this.#lastByte = Date.now();
    clearInterval(this.#watch);
    this.#watch = setInterval(() => {
      const silence = Date.now() - this.#lastByte;
      if (silence <= silentHeartbeats * this.#heartbeat) return;
      clearInterval(this.#watch);
      abort.abort(new Error(`nothing was heard from the server for ${Math.round(silence / 1_000)} s`));
    }, 250);
  }
}
