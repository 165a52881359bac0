/** The conditions for users, in usertool's notation: `age>=18`, `name*=o`, `with age`, `without age`. */
import { plainText } from "../shared/characters.js";
import { button, capitalized, element } from "../shared/dom.js";

/** Every operator contains one of these. */
const operators = /[=<>]/;
/** A search in names. */
const nameSearch = "name:~=";
/** Text that may have been meant as a condition. */
const likeCondition = /[~:!^*]|\b(?:is|not|null|like|with|without|and|or)\b/i;
/** A condition in an answer's hint, in the notation of the address: "where=age>=18". */
const suggestion = /"(where|with|without)=(.*?)"(?=[?);]| "(?:where|with|without)=|$)/gs;

export class FilterBar {
  element;
  #list;
  #field;
  #problem;
  #check;
  #onChange;
  #conditions = [];

  /**
   * onChange is called with the conditions: {parameter, text}, where the parameter is where, with, or without.
   * check(condition) returns the Problem if the server refuses a condition, else null.
   */
  constructor(check, onChange) {
    this.#check = check;
    this.#onChange = onChange;
    this.#list = element("ul", { class: "chips", "aria-label": "Conditions" });
    this.#field = element("input", {
      type: "search", id: "filter", placeholder: "a name, or age>=18", autocomplete: "off", spellcheck: "false",
      "aria-label": "Add a condition", "aria-describedby": "filter-problem", on: { input: () => this.#unmark() },
      title: "A part of a name, in upper or lower case, or a condition: "
        + "age>=18, hair_color=auburn, name^=Z, with age, without age. "
        + "Operators: = != < <= > >= ^= (starts with) *= (contains) ~= (contains, in any case). "
        + "A colon before the operator compares text: room:=007.",
    });
    this.#problem = element("p", { class: "filter-problem", id: "filter-problem" });
    const form = element("form", { class: "filter", role: "search", on: { submit: (event) => this.#submit(event) } },
      this.#field, element("button", { type: "submit", class: "small" }, "Filter"));
    this.element = element("div", { class: "filter-bar" }, form, this.#list, this.#problem);
  }

  show(conditions) {
    this.#conditions = conditions;
    this.#list.replaceChildren(...conditions.map(({ parameter, text }, index) => element("li", { class: "chip" },
      element("bdi", {}, plainText(conditionInWords({ parameter, text }), 120)),
      button("×", () => this.#remove(index), {
        "aria-label": `Remove the condition ${plainText(text)}`, class: "chip-remove",
      }))));
    this.#list.hidden = conditions.length === 0;
    this.showProblem(null);
  }

  /** Shows why the server refused a condition of the address, and marks the mistake. */
  showProblem(problem) {
    const isRefused = ({ parameter, text }) => problem.parameter === parameter && problem.text === text;
    this.#explain(problem, (replacements) => this.#onChange(this.#conditions.flatMap((condition) =>
      isRefused(condition) ? replacements : [condition])));
  }

  /** use(conditions) is called when a person chooses suggested conditions. */
  #explain(problem, use) {
    this.#unmark();
    if (!problem) return;
    this.#problem.append(element("strong", {}, capitalized(problem.message)));
    if (problem.text !== null && problem.start !== null) {
      const scalars = [...problem.text];
      const end = problem.start + Math.max(1, problem.length);
      this.#problem.append(element("code", {}, scalars.slice(0, problem.start).join(""),
        element("mark", {}, scalars.slice(problem.start, end).join("") || " "), scalars.slice(end).join("")));
    }
    const suggestions = suggestionsOf(problem.hint ?? "");
    if (suggestions.length === 0 && problem.hint) {
      const hint = problem.hint.replace(suggestion, (_, parameter, text) => `“${writeCondition({ parameter, text })}”`)
        .replace(/^use where twice, once/, "write two conditions, one");
      this.#problem.append(element("span", {}, capitalized(hint)));
    }
    for (const conditions of suggestions) {
      const label = `Use ${conditions.map((one) => plainText(writeCondition(one))).join(" and ")}`;
      this.#problem.append(button(label, () => use(conditions), { class: "small suggestion" }));
    }
  }

  #unmark() {
    this.#problem.replaceChildren();
    this.#field.removeAttribute("aria-invalid");
  }

  async #submit(event) {
    event.preventDefault();
    const text = this.#field.value.trim();
    if (text !== "") await this.#add(readCondition(text), text);
  }

  /** Adds a condition if the server accepts it; otherwise the typed text and the table stay. */
  async #add(condition, typed) {
    const problem = await this.#check(condition);
    // The person may have continued to type.
    if (this.#field.value.trim() !== typed) return;
    if (problem) {
      this.#explain(problem, (others) => {
        this.#field.value = "";
        this.#field.focus();
        this.#onChange([...this.#conditions, ...others]);
      });
      this.#field.setAttribute("aria-invalid", "true");
      this.#problem.append(element("span", {}, "The table is as it was."));
      return;
    }
    this.#field.value = "";
    this.#onChange([...this.#conditions, condition]);
    if (condition.text.startsWith(nameSearch) && typed !== condition.text && likeCondition.test(typed)) {
      this.#problem.append(element("span", {},
        `“${plainText(typed)}” is no condition, so it is searched in names. Conditions are written `
        + "age>=18, with age, or without age."));
    }
  }

  #remove(index) {
    this.#field.focus();
    this.#onChange(this.#conditions.filter((_, place) => place !== index));
  }
}

/** Reads a condition; text without an operator is a part of a name. */
function readCondition(text) {
  const presence = /^(with|without)\s+(.+)$/is.exec(text);
  if (presence) return { parameter: presence[1].toLowerCase(), text: presence[2] };
  return { parameter: "where", text: operators.test(text) ? text : `${nameSearch}${text}` };
}

/** The suggested conditions of a hint, as one array per suggestion; other conditions in it are examples. */
function suggestionsOf(hint) {
  const conditions = (text) => [...text.matchAll(suggestion)].map(([, parameter, text]) => ({ parameter, text }));
  if (hint.startsWith("did you mean")) return conditions(hint).map((one) => [one]);
  // Another proposal may follow the last of several conditions.
  return /^use where (?:twice|for each): /.test(hint) ? [conditions(hint.replace(/; a colon makes .*$/s, ""))] : [];
}

const writeCondition = ({ parameter, text }) => parameter === "where" ? text : `${parameter} ${text}`;

function conditionInWords(condition) {
  const { parameter, text } = condition;
  if (parameter !== "where" || !text.startsWith(nameSearch)) return writeCondition(condition);
  return `names that contain “${text.slice(nameSearch.length)}”`;
}
