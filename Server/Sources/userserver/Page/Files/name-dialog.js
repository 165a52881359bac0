/** The form of a screen: changes the name and the hair color in one write. */
import { colorList } from "./colors.js";
import { openDialog } from "./dialog.js";
import { button, element } from "./dom.js";
import { currentOf } from "./drafts.js";
import { problemText } from "./notices.js";
import { sameValue, textValue, unset } from "./values.js";
import { valueInWords } from "./value-view.js";

export class NameDialog {
  #app;
  #user;
  #base;

  constructor(app, user) {
    this.#app = app;
    this.#user = user;
    this.#base = { name: user.value("name"), hair_color: user.value("hair_color") };
  }

  show() {
    const dialog = openDialog(`Change user ${this.#user.id}`, { className: "name-dialog" });
    const field = (name, label, hint) => {
      const value = this.#base[name].text ?? "";
      const input = element("input", {
        type: "text", name, value, placeholder: value || hint, autocomplete: "off", spellcheck: "false",
        list: name === "hair_color" && colorList(),
      });
      return { input, label: element("label", {}, label, input) };
    };
    const name = field("name", "Name", "");
    const color = field("hair_color", "Hair color", "#a52a2a or auburn");
    const problem = element("p", { class: "form-problem" });
    const submit = element("button", { type: "submit", class: "primary" }, "Change");
    dialog.body.append(element("form", { class: "form", on: {
      submit: async (event) => {
        event.preventDefault();
        problem.textContent = "";
        submit.disabled = true;
        submit.textContent = "Saving…";
        const refusal = await this.#save({ name: name.input, hair_color: color.input });
        submit.disabled = false;
        submit.textContent = "Change";
        if (refusal === null) {
          dialog.close();
          return;
        }
        problem.textContent = refusal;
        this.#app.announcer.announce(refusal, "form");
      },
    } }, name.label, color.label, problem,
    element("div", { class: "form-buttons" }, submit,
      button("Cancel", () => dialog.close(), { class: "quiet" }))));
    name.input.focus();
    name.input.select();
  }

  /** Writes what was edited; returns why it was refused, or null. */
  async #save(inputs) {
    const set = new Map();
    for (const [attribute, input] of Object.entries(inputs)) {
      if (input.value === input.defaultValue) continue;
      set.set(attribute, input.value === "" && attribute === "hair_color" ? unset : textValue(input.value));
    }
    if (set.size === 0) return null;
    try {
      const expect = new Map([...set.keys()].map((name) => [name, this.#base[name]]));
      await this.#app.writes.patch(this.#user.id, set, expect);
      return null;
    } catch (error) {
      return error.status === 409 ? this.#conflict(error, set) : problemText(error);
    }
  }

  /** After a conflict, the form expects the newer values, which it names: changing again keeps mine. */
  #conflict(error, set) {
    const newer = [];
    for (const attribute of set.keys()) {
      const current = currentOf(error, attribute);
      if (!current || sameValue(current, this.#base[attribute])) continue;
      this.#base[attribute] = current;
      newer.push(`${attribute} is now ${valueInWords(current)}`);
    }
    return `Meanwhile, ${newer.join(" and ")}. Change again to keep yours, or cancel to keep theirs.`;
  }
}
