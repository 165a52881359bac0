/** The editor of a draft: the type, the field, and news about the value. */
import { colorList } from "./colors.js";
import { button, element, uniqueID } from "../shared/dom.js";
import { kindInWords } from "../shared/values.js";
import { plainText } from "../shared/characters.js";
import { shortValue, valueInWords } from "../shared/value-view.js";

export class CellEditor {
  element;
  #draft;
  #actions;
  #choice;
  #field;
  #hint;
  #news;
  #problem;
  #saveButton;
  #shownTheirs = null;
  #wasRemoved = false;

  /** actions: save(draft), discard(draft), changed(draft), announce(text). */
  constructor(draft, actions) {
    this.#draft = draft;
    this.#actions = actions;
    draft.editor = this;
    this.#build();
    this.update();
  }

  #build() {
    const draft = this.#draft;
    const label = `${plainText(draft.attribute)} of user ${draft.user}`;
    const notes = uniqueID("editor-notes");
    this.#choice = element("select", {
      "aria-label": `Type of ${label}`, class: "editor-type", on: { change: () => this.#choose() },
    },
      draft.choice === "keep" && element("option", { value: "keep" }, `Keep: ${kindInWords(draft.start)}`),
      draft.choices.map(([value, text]) => element("option", { value }, text)));
    this.#choice.value = draft.choice;
    const attributes = {
      "aria-label": label, "aria-describedby": notes, spellcheck: "false", autocomplete: "off",
      class: "editor-field", on: { input: () => this.#type() },
    };
    // Only a single-line field can suggest values, but it would lose line breaks.
    this.#field = draft.attribute === "hair_color" && !draft.typed.includes("\n")
      ? element("input", { type: "text", list: colorList(), ...attributes })
      : element("textarea", { rows: "1", ...attributes });
    this.#field.value = draft.typed;
    this.#saveButton = button("Save", () => this.#actions.save(draft), { class: "small primary" });
    this.#hint = element("p", { class: "editor-hint" });
    this.#news = element("div", { class: "editor-news", "data-testid": "theirs" });
    this.#problem = element("p", { class: "editor-problem", "data-testid": "editor-problem" });
    this.element = element("div", {
      class: "editor", "data-testid": "editor", on: { keydown: (event) => this.#key(event) },
    },
      this.#field,
      element("div", { class: "editor-controls" }, this.#choice, this.#saveButton,
        button("Cancel", () => this.#actions.discard(draft), { class: "small quiet" })),
      element("div", { id: notes }, this.#hint, this.#problem), this.#news);
  }

  focus() {
    if (this.#field.hidden) {
      this.#choice.focus();
    } else {
      this.#field.focus();
      this.#field.select();
    }
    this.#showAll();
  }

  /** Scrolls the buttons into view, including those of a newer value below the others. */
  #showAll() {
    this.element.scrollIntoView({ block: "nearest", inline: "nearest" });
    if (this.#news.childElementCount > 0) this.#news.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  /** Shows the state of the draft without changing the field. */
  update() {
    const draft = this.#draft;
    this.#field.hidden = ["unset", "keep"].includes(draft.choice) && !draft.isGuessing;
    this.#field.placeholder = { keep: "type to replace it", unset: "not set" }[draft.choice] ?? "";
    this.#choice.value = draft.choice;
    this.#field.inputMode = draft.choice === "number" ? "decimal" : "text";
    this.#field.readOnly = draft.isSaving;
    this.#field.setAttribute("aria-invalid", String(draft.problem !== null));
    this.#saveButton.disabled = draft.isSaving;
    this.#saveButton.textContent = draft.isSaving ? "Saving…" : draft.canRetry ? "Try again" : "Save";
    this.element.setAttribute("aria-busy", String(draft.isSaving));
    this.#hint.textContent = this.#hintText();
    this.#problem.textContent = draft.problem ?? "";
    this.#showNews();
    this.#fit();
  }

  #hintText() {
    const draft = this.#draft;
    if (draft.isSaving) return "Saving…";
    if (draft.choice === "text" && draft.typed === "" && draft.isEdited && draft.attribute !== "name") {
      return "This saves an empty text. To remove the value, choose “Not set”.";
    }
    if (draft.choice === "text" && draft.isEscaped) {
      return "\\u{…} is a character that cannot be seen; \\\\ is a backslash.";
    }
    if (draft.choice !== "keep" && draft.original.choice === "keep" && draft.base.kind !== "unset") {
      return `This replaces ${kindInWords(draft.base)}.`;
    }
    if (draft.isGuessing && draft.choice === "number") return "Saved as a number, unless you choose “Text”.";
    return "";
  }

  #showNews() {
    const { theirs, isRemoved } = this.#draft;
    if (theirs === this.#shownTheirs && isRemoved === this.#wasRemoved) return;
    this.#shownTheirs = theirs;
    this.#wasRemoved = isRemoved;
    this.#news.replaceChildren();
    if (isRemoved) this.#showRemoval();
    else if (theirs) this.#showTheirs(theirs);
    if ((isRemoved || theirs) && this.element.contains(document.activeElement)) this.#showAll();
  }

  #showRemoval() {
    const { user } = this.#draft;
    this.#news.append(element("p", {}, `User ${user} was removed. Your text is kept here.`));
    this.#actions.announce(`User ${user} was removed while you edit it.`);
  }

  #showTheirs(theirs) {
    const draft = this.#draft;
    this.#news.append(
      element("p", {}, element("span", {}, "Newer value: "), shortValue(theirs)),
      button("Keep mine", () => {
        const { wasRefused } = draft;
        draft.keepMine();
        this.#actions.changed(draft);
        if (wasRefused) this.#actions.save(draft);
        else this.focus();
      }, { class: "small" }),
      button("Take theirs", () => this.#actions.discard(draft), { class: "small" }));
    const attribute = `${plainText(draft.attribute)} of user ${draft.user}`;
    this.#actions.announce(`${attribute} was changed to ${valueInWords(theirs)} while you edit it.`);
  }

  #choose() {
    this.#draft.choose(this.#choice.value);
    this.update();
  }

  #type() {
    this.#draft.type(this.#field.value);
    this.update();
  }

  /** Grows with the text, up to eight lines. */
  #fit() {
    if (this.#field.localName === "input") return;
    const lines = this.#draft.typed.length > 2_000 ? 8 : this.#draft.typed.split("\n").length;
    this.#field.rows = Math.min(8, lines);
  }

  #key(event) {
    // An input method needs its keys, and the grid's keys are not for editors.
    event.stopPropagation();
    if (event.isComposing) return;
    if (event.key === "Escape") {
      event.preventDefault();
      this.#actions.discard(this.#draft);
    } else if (event.key === "Enter" && !event.shiftKey && event.target.localName !== "button") {
      event.preventDefault();
      this.#actions.save(this.#draft);
    }
  }
}
