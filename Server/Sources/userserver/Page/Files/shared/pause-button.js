/** The pause button of every live view: moving content can be stopped. */
import { element, setText } from "./dom.js";

export class PauseButton {
  element;

  constructor(id, toggle) {
    this.element = element("button", { type: "button", id, "aria-pressed": "false", on: { click: toggle } }, "Pause");
  }

  get isPaused() {
    return this.element.getAttribute("aria-pressed") === "true";
  }

  set isPaused(isPaused) {
    setText(this.element, isPaused ? "Resume" : "Pause");
    this.element.setAttribute("aria-pressed", String(isPaused));
  }
}
