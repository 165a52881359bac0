/** A small plot of the last minute, with a bar for each second. */
import { element, inDigits, setText, svg } from "./dom.js";

const width = 600;
const height = 120;

export class Plot {
  element;
  #bars;
  #caption;
  #maximum;
  #words;

  /** words(maximum) describes the largest value, for people who do not see the plot. */
  constructor(title, length, words) {
    this.#words = words;
    const step = width / length;
    this.#bars = Array.from({ length }, (_, index) =>
      svg("rect", { x: index * step + 1, width: step - 2, y: height, height: 0, rx: 1.5, class: "bar" }));
    this.#maximum = element("span", { class: "plot-maximum" });
    this.#caption = element("figcaption", {}, element("span", {}, title), this.#maximum);
    this.element = element("figure", { class: "plot" }, this.#caption,
      svg("svg", { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", "aria-hidden": "true" },
        svg("line", { x1: 0, x2: width, y1: height - 0.5, y2: height - 0.5, class: "axis" }), this.#bars),
      element("div", { class: "plot-axis", "aria-hidden": "true" },
        element("span", {}, "60 s ago"), element("span", {}, "now")));
  }

  /** Shows values; null is no value. */
  show(values) {
    const maximum = Math.max(...values.map((value) => value ?? 0));
    values.forEach((value, index) => {
      // The smallest value is still seen.
      const barHeight = value ? Math.max(2, (value / maximum) * (height - 6)) : 0;
      this.#bars[index].setAttribute("height", barHeight);
      this.#bars[index].setAttribute("y", height - barHeight);
    });
    setText(this.#maximum, this.#words(maximum, inDigits));
  }
}
