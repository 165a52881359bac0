/** The view of the pulse: the number of changes, and their delays. */
import { element, inDigits, setText, svg } from "../shared/dom.js";
import { PauseButton } from "../shared/pause-button.js";
import { inMilliseconds } from "./pulse-model.js";

const interval = 1_000;
const width = 600;
const height = 120;

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
    parts.changes = new Plot("Changes in each second", 60, (maximum) => `at most ${inDigits(maximum)}`);
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

/** A small plot of the last minute, with a bar for each second. */
class Plot {
  element;
  #bars;
  #maximum;
  #words;

  /** words(maximum) describes the largest value, for people who do not see the plot. */
  constructor(title, length, words) {
    this.#words = words;
    const step = width / length;
    this.#bars = Array.from({ length }, (_, index) =>
      svg("rect", { x: index * step + 1, width: step - 2, y: height, height: 0, rx: 1.5, class: "bar" }));
    this.#maximum = element("span", { class: "plot-maximum" });
    this.element = element("figure", { class: "plot" },
      element("figcaption", {}, element("span", {}, title), this.#maximum),
      svg("svg", { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", "aria-hidden": "true" },
        svg("line", { x1: 0, x2: width, y1: height - 0.5, y2: height - 0.5, class: "axis" }), this.#bars),
      element("div", { class: "plot-axis", "aria-hidden": "true" },
        element("span", {}, "60 s ago"), element("span", {}, "now")));
  }

  show(values) {
    const maximum = Math.max(...values.map((value) => value ?? 0));
    values.forEach((value, index) => {
      // Even the smallest value remains visible.
      const barHeight = value ? Math.max(2, (value / maximum) * (height - 6)) : 0;
      this.#bars[index].setAttribute("height", barHeight);
      this.#bars[index].setAttribute("y", height - barHeight);
    });
    setText(this.#maximum, this.#words(maximum));
  }
}
