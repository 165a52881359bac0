/**
 * The token that the server printed when it started.
 *
 * It comes in the fragment of the address, which browsers do not send, and is moved to sessionStorage at once, so that
 * it is in no history, log, or screenshot.
 */
import { Observers } from "../shared/observers.js";

const key = "userserver-token";
const acceptedKey = "userserver-token-accepted";

export class Token {
  /** Called with each new token, and whether it was given to this window. */
  changes = new Observers();
  #requests = new Set();

  constructor() {
    this.#takeFromAddress();
    addEventListener("hashchange", () => this.#takeFromAddress());
  }

  get value() {
    return sessionStorage.getItem(key);
  }

  /** Takes note that the server has accepted a token. */
  accepted(token) {
    if (token && token === this.value) sessionStorage.setItem(acceptedKey, "true");
  }

  /** Whether the server has accepted the token before. */
  get wasAccepted() {
    return sessionStorage.getItem(acceptedKey) !== null;
  }

  /** Takes a token that a person gave. */
  set(token) {
    this.#store(token, true);
  }

  /** Takes a token that another window has. */
  adopt(token) {
    this.#store(token, false);
  }

  /** Returns when there is another token than the one that the server has refused. */
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
