/**
 * The one live region of the page.
 *
 * A screen reader reads each text that appears here. The texts of five seconds are joined into one; of texts with the
 * same topic, only the last remains.
 */
import { element } from "./dom.js";

const interval = 5_000;

export class Announcer {
  element = element("p", { role: "status", "aria-live": "polite", class: "visually-hidden", id: "announcements" });
  #waiting = new Map();
  #timer = null;
  #last = -Infinity;

  announce(text, topic = text) {
    this.#waiting.delete(topic);
    this.#waiting.set(topic, text);
    if (this.#timer !== null) return;
    const delay = Math.max(0, this.#last + interval - performance.now());
    this.#timer = setTimeout(() => this.#speak(), delay);
  }

  #speak() {
    this.#timer = null;
    this.#last = performance.now();
    this.element.textContent = [...this.#waiting.values()].join(" ");
    this.#waiting.clear();
  }
}
