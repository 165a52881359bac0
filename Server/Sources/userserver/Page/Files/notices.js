/** One line that says what has just been done, or why it was not, with a button such as Undo. The next replaces it. */
import { button, element } from "./dom.js";

export class Notices {
  element = element("div", { class: "notice", id: "notice", hidden: true });
  #announcer;

  constructor(announcer) {
    this.#announcer = announcer;
  }

  /** action: {label, run}; isProblem: marks the line as a failure. */
  show(text, { action, isProblem = false } = {}) {
    this.element.classList.toggle("problem", isProblem);
    this.element.replaceChildren(
      ...(isProblem ? [element("strong", {}, "Not done. ")] : []),
      element("span", { class: "notice-text" }, text),
      ...(action ? [button(action.label, () => action.run(), { class: "small" })] : []),
      button("Dismiss", () => this.hide(), { class: "small quiet" }));
    this.element.hidden = false;
    this.#announcer.announce(text, "notice");
  }

  showProblem(error) {
    this.show(problemText(error), { isProblem: true });
  }

  hide() {
    this.element.hidden = true;
  }
}

export function problemText(error) {
  return error.hint ? `${error.message} ${error.hint}` : error.message;
}
