/**
 * The token that the server printed when it started.
 *
 * It comes in the address's fragment, which browsers do not send, and is moved to sessionStorage at once, so that it
 * is in no history, log, or screenshot.
 */
import { Observers } from "../shared/observers.js";

const key = "userserver-token";
const acceptedKey = "userserver-token-accepted";

export class Token {
  /** Called with each new token, and whether this window received it from a person or its address. */
  changes = new Observers();
  #requests = new Set();

  constructor() {
    this.#takeFromAddress();
    addEventListener("hashchange", () => this.#takeFromAddress());
  }

  get value() {
    return sessionStorage.getItem(key);
  }

  /** Notes that the server has accepted a token. */
  accepted(token) {
    if (token && token === this.value) sessionStorage.setItem(acceptedKey, "true");
  }

  get wasAccepted() {
    return sessionStorage.getItem(acceptedKey) !== null;
  }

  /** Sets a token from a person. */
  set(token) {
    this.#store(token, true);
  }

  /** Sets a token from another window. */
  adopt(token) {
    this.#store(token, false);
  }

  /** Returns when the token differs from the refused one. */
  async another(refused) {
    if (this.value !== refused) return;
    await new Promise((resolve) => this.#requests.add(resolve));
  }

  #store(token, isOwn) {
    if (token !== this.value) {
      sessionStorage.setItem(key, token);
      sessionStorage.removeItem(acceptedKey);
      this.changes.call(token, isOwn);
    }
    for (const resolve of this.#requests) resolve();
    this.#requests.clear();
  }

  #takeFromAddress() {
    const match = /^#token=(.+)$/.exec(location.hash);
    if (!match) return;
    history.replaceState(history.state, "", location.pathname + location.search);
    this.set(match[1]);
  }
}
