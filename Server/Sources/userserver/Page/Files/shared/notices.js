/** Messages of the page: in a line, and to a screen reader. */
import { button, capitalized, element } from "./dom.js";

const announcementInterval = 5_000;

/**
 * The one live region of the page.
 *
 * A screen reader reads each text that appears here. Texts within five seconds are joined; of texts with the same
 * topic, only the last remains.
 */
export class Announcer {
  element = element("p", { role: "status", "aria-live": "polite", class: "visually-hidden", id: "announcements" });
  #waiting = new Map();
  #timer = null;
  #last = -Infinity;

  announce(text, topic = text) {
    this.#waiting.delete(topic);
    this.#waiting.set(topic, text);
    if (this.#timer !== null) return;
    const delay = Math.max(0, this.#last + announcementInterval - performance.now());
    this.#timer = setTimeout(() => this.#speak(), delay);
  }

  #speak() {
    this.#timer = null;
    this.#last = performance.now();
    this.element.textContent = [...this.#waiting.values()].join(" ");
    this.#waiting.clear();
  }
}

/** One line with the result of the last action, or the reason of its failure, and a button such as Undo. */
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

  /** retry: the action to repeat, if the error says that this may succeed. */
  showProblem(error, { retry } = {}) {
    const action = retry && error.canRetry ? { label: "Try again", run: retry } : undefined;
    this.show(problemText(error), { action, isProblem: true });
  }

  hide() {
    this.element.hidden = true;
  }
}

/** An error in sentences, in the page's words: the server's answer names members of the request. */
export function problemText(error) {
  const message = sentence(error.message.replace(/^in "(?:set|expect)": /, ""));
  if (!error.hint) return message;
  // The field itself suggests the names.
  const names = /^a color is #rrggbb, or one of: .*$/s;
  const hint = error.hint.replace(names, "write #rrggbb, or a name such as auburn or black");
  return `${message} ${sentence(hint)}`;
}

/** The text as a sentence, with a capital at its start and a mark at its end. */
function sentence(text) {
  return `${capitalized(text)}${/[.!?…)”"]$/.test(text) ? "" : "."}`;
}
