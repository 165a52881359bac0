/** A stack of three screens that show a user, each with a listener for the name and one for the color. */
import { button, element, setText } from "../shared/dom.js";
import { Listeners } from "./listeners.js";
import { colorOf } from "../shared/values.js";
import { plainText } from "../shared/characters.js";
import { shortValue, valueInWords } from "../shared/value-view.js";

const screenNames = ["FirstScreen", "SecondScreen", "ThirdScreen"];
const topics = { name: "nameButton", hair_color: "background" };
const keptCalls = 8;

export class ScreenStack {
  element;
  listeners = new Listeners();
  #usesNames;
  #present;
  #editName;
  #screens;
  #depth = 0;
  #parts = {};
  #calls = [];
  #round = 0;

  /**
   * usesNames: whether listeners have names. present(attribute) returns the current value; editName() edits the name.
   */
  constructor(id, title, usesNames, { present, editName }) {
    this.#usesNames = usesNames;
    this.#present = present;
    this.#editName = editName;
    this.#screens = screenNames.map((name) => this.#makeScreen(name));
    this.#parts.count = element("strong", { class: "listener-count", data: { testid: "listener-count" } });
    this.#parts.calls = element("ol", { class: "calls", "aria-label": "The last calls of listeners" });
    this.#parts.push = button("Push", () => this.push(), { class: "small", data: { testid: "push" } });
    this.#parts.pop = button("Pop", () => this.pop(), { class: "small", data: { testid: "pop" } });
    this.element = element("section", { class: "card stack", id, "aria-label": title },
      element("div", { class: "card-head" }, element("h2", {}, title), element("span", { class: "spacer" }),
        element("span", { class: "listeners" }, "listeners: ", this.#parts.count),
        this.#parts.push, this.#parts.pop,
        button("Enter twice", () => this.enterTwice(), { class: "small", data: { testid: "enter-twice" } })),
      element("div", { class: "screens" }, this.#screens.map((screen) => screen.element)), this.#parts.calls);
    this.push();
  }

  #makeScreen(name) {
    const label = element("span", { class: "screen-name-text" });
    const nameButton = button(label, () => this.#editName(), { class: "screen-name", data: { testid: "name-button" } });
    const body = element("div", { class: "screen-body" }, nameButton, element("span", { class: "screen-color" }));
    const state = element("span", { class: "screen-state" });
    const screen = element("article", { class: "screen unentered", "aria-label": name, data: { screen: name } },
      element("h3", {}, name, " ", state), body);
    return { name, element: screen, body, label, state, color: body.lastElementChild, isEntered: false };
  }

  // MARK: Navigation

  push() {
    if (this.#depth === screenNames.length) return;
    this.#enter(this.#screens[this.#depth]);
    this.#depth += 1;
    this.#render();
  }

  /** Leaves the top screen without unbinding, as the origin systems do. */
  pop() {
    if (this.#depth <= 1) return;
    this.#depth -= 1;
    this.#render();
  }

  enterTwice() {
    for (const screen of this.#screens.slice(0, this.#depth)) this.#enter(screen);
    this.#render();
  }

  #enter(screen) {
    screen.isEntered = true;
    this.#round += 1;
    for (const [attribute, part] of Object.entries(topics)) {
      const name = `${screen.name}.${part}`;
      const call = (value) => {
        this.#note(name, value);
        this.#show(screen, attribute, value);
      };
      if (this.#usesNames) {
        this.listeners.bindAndFire(name, attribute, this.#present(attribute), call);
      } else {
        this.listeners.add(attribute, call);
        call(this.#present(attribute));
      }
    }
  }

  notify(attribute, value) {
    this.#round += 1;
    this.listeners.notify(attribute, value);
    this.#render();
  }

  // MARK: Rendering

  #show(screen, attribute, value) {
    if (attribute === "name") {
      screen.label.replaceChildren(shortValue(value));
      return;
    }
    const color = colorOf(value);
    screen.body.style.backgroundColor = color ?? "";
    screen.body.classList.toggle("on-dark", color !== null && isDark(color));
    screen.body.classList.toggle("on-light", color !== null && !isDark(color));
    setText(screen.color, valueText(value));
  }

  #note(listener, value) {
    const earlier = this.#calls.find((call) => call.round === this.#round && call.listener === listener);
    if (earlier) earlier.times += 1;
    else this.#calls.push({ round: this.#round, listener, value, times: 1 });
    if (this.#calls.length > keptCalls) this.#calls.splice(0, this.#calls.length - keptCalls);
  }

  #render() {
    setText(this.#parts.count, String(this.listeners.count));
    this.#parts.push.disabled = this.#depth === screenNames.length;
    this.#parts.pop.disabled = this.#depth <= 1;
    this.#screens.forEach((screen, index) => {
      const isOpen = index < this.#depth;
      screen.element.classList.toggle("closed", !isOpen);
      screen.element.classList.toggle("unentered", !screen.isEntered);
      setText(screen.state, isOpen ? "" : screen.isEntered ? "(popped)" : "(not pushed)");
      screen.body.inert = !isOpen;
      screen.element.dataset.open = String(isOpen);
    });
    this.#parts.calls.replaceChildren(...this.#calls.map(({ listener, value, times }) => element("li", {},
      element("code", {}, listener), " ", element("bdi", {}, valueInWords(value)),
      times > 1 && element("strong", { class: "times" }, ` called ${times} times`))));
  }
}

const valueText = (value) => value.kind === "text" ? plainText(value.text) : valueInWords(value);

/** Whether text on a color must be light, by the relative luminance of WCAG. */
function isDark(color) {
  const [red, green, blue] = [1, 3, 5].map((start) => {
    const part = parseInt(color.slice(start, start + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.18;
}
