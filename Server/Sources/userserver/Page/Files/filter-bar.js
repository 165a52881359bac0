/** The conditions that users must meet, written as in usertool: `age>=18`, `name*=o`, `with age`, `without age`. */
import { plainText } from "./characters.js";
import { button, element } from "./dom.js";

const operators = /!=|<=|>=|\^=|\*=|=|<|>/;

export class FilterBar {
  element;
  #list;
  #field;
  #problem;
  #onChange;
  #conditions = [];

  /** onChange is called with the conditions: {parameter, text}, where the parameter is where, with, or without. */
  constructor(onChange) {
    this.#onChange = onChange;
    this.#list = element("ul", { class: "chips", "aria-label": "Conditions" });
    this.#field = element("input", {
      type: "search", id: "filter", placeholder: "a name, or age>=18", autocomplete: "off", spellcheck: "false",
      "aria-label": "Add a condition", "aria-describedby": "filter-problem",
      title: "A part of a name, or a condition: age>=18, hair_color=auburn, name^=Z, with age, without age. "
        + "Operators: = != < <= > >= ^= (starts with) *= (contains). "
        + "A colon before the operator compares text: room:=007.",
    });
    this.#problem = element("p", { class: "filter-problem", id: "filter-problem" });
    const form = element("form", { class: "filter", role: "search", on: { submit: (event) => this.#submit(event) } },
      this.#field, element("button", { type: "submit", class: "small" }, "Filter"));
    this.element = element("div", { class: "filter-bar" }, form, this.#list, this.#problem);
  }

  /** Shows the conditions of the address. */
  show(conditions) {
    this.#conditions = conditions;
    this.#list.replaceChildren(...conditions.map(({ parameter, text }, index) => element("li", { class: "chip" },
      element("bdi", {}, plainText(parameter === "where" ? text : `${parameter} ${text}`)),
      button("×", () => this.#remove(index), {
        "aria-label": `Remove the condition ${plainText(text)}`, class: "chip-remove",
      }))));
    this.#list.hidden = conditions.length === 0;
    this.showProblem(null);
  }

  /** Shows why the server refused a condition, and marks the place. */
  showProblem(problem) {
    this.#problem.replaceChildren();
    if (!problem) return;
    this.#problem.append(element("strong", {}, problem.message));
    if (problem.text !== null && problem.start !== null) {
      const scalars = [...problem.text];
      const end = problem.start + Math.max(1, problem.length);
      this.#problem.append(element("code", {}, scalars.slice(0, problem.start).join(""),
        element("mark", {}, scalars.slice(problem.start, end).join("") || " "), scalars.slice(end).join("")));
    }
    if (problem.hint) this.#problem.append(element("span", {}, problem.hint));
  }

  #submit(event) {
    event.preventDefault();
    const text = this.#field.value.trim();
    if (text === "") return;
    this.#field.value = "";
    this.#onChange([...this.#conditions, readCondition(text)]);
  }

  #remove(index) {
    this.#field.focus();
    this.#onChange(this.#conditions.filter((_, place) => place !== index));
  }
}

/** A text without an operator is a part of a name. */
export function readCondition(text) {
  const presence = /^(with|without)\s+(.+)$/.exec(text);
  if (presence) return { parameter: presence[1], text: presence[2] };
  return { parameter: "where", text: operators.test(text) ? text : `name:*=${text}` };
}

export function conditionsOf(parameters) {
  return ["where", "with", "without"].flatMap((parameter) =>
    parameters.getAll(parameter).map((text) => ({ parameter, text })));
}
