import { colorList } from "../editing/colors.js";
import { openForm } from "../shared/dialog.js";
import { element } from "../shared/dom.js";
import { currentOf } from "../editing/drafts.js";
import { problemText } from "../shared/notices.js";
import { sameValue, textValue, unset } from "../shared/values.js";
import { valueInWords } from "../shared/value-view.js";

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
    openForm(`Change user ${this.#user.id}`, {
      className: "name-dialog", label: "Change", busyLabel: "Saving…", announcer: this.#app.announcer,
      fields: [name.label, color.label],
    }, () => this.#save({ name: name.input, hair_color: color.input }));
    name.input.select();
  }

  /** Writes edited values; returns {problem} with the reason of a refusal, or null. */
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
      return { problem: error.status === 409 ? this.#conflict(error, set) : problemText(error) };
    }
  }

  /** Names the newer values after a conflict, and expects them: submitting again keeps mine. */
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
