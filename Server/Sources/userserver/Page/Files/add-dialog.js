/** Asks for the values of a new user. What was typed stays until the user is added. */
import { colorList } from "./colors.js";
import { openDialog } from "./dialog.js";
import { button, element } from "./dom.js";
import { problemText } from "./notices.js";
import { textValue } from "./values.js";

export class AddDialog {
  #app;

  constructor(app) {
    this.#app = app;
  }

  /** Returns what was added, as {user, revision}, or null. */
  async ask() {
    const dialog = openDialog("Add a user", { className: "add-dialog" });
    const common = { type: "text", autocomplete: "off", spellcheck: "false" };
    const field = (attributes) => element("input", { ...common, ...attributes });
    const name = field({ name: "name", required: true });
    const color = field({ name: "hair_color", placeholder: "#a52a2a or auburn", list: colorList() });
    const problem = element("p", { class: "form-problem" });
    const submit = element("button", { type: "submit", class: "primary" }, "Add user");
    let added = null;
    const form = element("form", { class: "form", on: {
      submit: async (event) => {
        event.preventDefault();
        submit.disabled = true;
        submit.textContent = "Adding…";
        problem.textContent = "";
        let label = "Add user";
        try {
          added = await this.#app.writes.add(this.#values(name.value, color.value));
          dialog.close();
        } catch (error) {
          problem.textContent = problemText(error);
          this.#app.announcer.announce(problem.textContent, "form");
          if (error.canRetry) label = "Try again";
        }
        submit.textContent = label;
        submit.disabled = false;
      },
    } },
    element("label", {}, "Name", name),
    element("label", {}, "Hair color", element("span", { class: "optional" }, "optional"), color),
    problem,
    element("p", { class: "hint" }, "Further attributes are added when you open the user."),
    element("div", { class: "form-buttons" }, submit, button("Cancel", () => dialog.close(), { class: "quiet" })));
    dialog.body.append(form);
    name.focus();
    await dialog.closed;
    return added;
  }

  #values(name, color) {
    const values = new Map([["name", textValue(name)]]);
    if (color.trim() !== "") values.set("hair_color", textValue(color.trim()));
    return values;
  }
}
