/** The button that every live view has: what moves by itself can be stopped. */
import { element, setText } from "./dom.js";

export class PauseButton {
  element;

  /** toggle is called when the button is pressed. */
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
