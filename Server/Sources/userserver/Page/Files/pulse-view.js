/** The view of the pulse: how many changes come, and how long they take. */
import { element, setText } from "./dom.js";
import { PauseButton } from "./pause-button.js";
import { Plot } from "./plot.js";
import { inMilliseconds } from "./pulse-model.js";

const interval = 1_000;

export class PulseView {
  element;
  #pulse;
  #timer;
  #pause = new PauseButton("pause-pulse", () => { this.#pause.isPaused = !this.#pause.isPaused; });
  #parts = {};

  constructor(app) {
    this.#pulse = app.feed.pulse;
    const parts = this.#parts;
    parts.sent = element("output", { class: "figure", id: "commit-to-sent" });
    parts.network = element("output", { class: "figure", id: "server-to-window" });
    parts.changes = new Plot("Changes in each second", 60, (maximum, inDigits) => `at most ${inDigits(maximum)}`);
    parts.lags = new Plot("Slowest commit to sent in each second", 60, (maximum) => `at most ${maximum} ms`);
    this.element = element("div", { class: "pulse-view" },
      element("div", { class: "view-head" },
        element("h2", {}, "Pulse"), element("span", { class: "spacer" }), this.#pause.element),
      element("div", { class: "figures" },
        figure("Commit to sent", parts.sent,
          "The median of the last change sets, by the server's clock, in whole milliseconds."),
        figure("Server to window", parts.network,
          "Half the round trip of a request from this window. No clocks of two machines are compared.")),
      element("section", { class: "card plots", "aria-label": "The last minute" },
        parts.changes.element, parts.lags.element));
    this.#timer = setInterval(() => this.#tick(), interval);
    this.#tick();
  }

  close() {
    clearInterval(this.#timer);
  }

  async #tick() {
    if (document.hidden || this.#pause.isPaused) return;
    await this.#pulse.measure();
    this.#pulse.advance();
    const { medianLag } = this.#pulse;
    setText(this.#parts.sent, medianLag === null ? "–" : medianLag === 0 ? "under 1 ms" : `${medianLag} ms`);
    setText(this.#parts.network, inMilliseconds(this.#pulse.halfRoundTrip));
    this.#parts.changes.show(this.#pulse.changes);
    this.#parts.lags.show(this.#pulse.lags);
  }
}

function figure(title, output, note) {
  return element("section", { class: "card figure-card", "aria-label": title },
    element("h3", {}, title), output, element("p", { class: "hint" }, note));
}
