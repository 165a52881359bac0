/** The line below the table: the number of users, whether they equal the server's, waiting rows, and pages. */
import { button, counted, element, inDigits, setText } from "../shared/dom.js";
import { pageSizes } from "./users-query.js";

export class ListFoot {
  element;
  #waiting = element("span", { class: "waiting" });
  #apply;
  #count = element("span", { class: "row-count", id: "row-count" });
  #verified = element("span", {
    class: "verified", id: "verified",
    title: "The page has compared the number and the order of its rows with those of the server. "
      + "It does so at intervals, and loads the list again if they differ.",
  });
  #first;
  #previous;
  #next;
  #size;

  /** actions: apply() moves waiting rows; goToFirst() and goTo(page) show other pages; resize(limit). */
  constructor({ apply, goToFirst, goTo, resize }) {
    this.#apply = button("", apply, { class: "small apply", id: "apply-order", hidden: true });
    const turn = (label, id, action) =>
      button(label, action, { class: "small", id, "aria-label": `${label} page`, hidden: true });
    this.#first = turn("First", "first-page", goToFirst);
    this.#previous = turn("Previous", "previous-page", () => goTo("previous"));
    this.#next = turn("Next", "next-page", () => goTo("next"));
    this.#size = element("select", {
      "aria-label": "Rows on a page", class: "small", on: { change: () => resize(this.#size.value) },
    }, pageSizes.map((size) => element("option", { value: size }, `${inDigits(size)} rows`)));
    this.element = element("div", { class: "card-foot" }, this.#waiting, this.#apply, this.#count, this.#verified,
      element("div", { class: "pages" }, this.#first, this.#previous, this.#next, this.#size));
  }

  showQuery({ limit, after }) {
    this.#size.value = pageSizes.includes(limit) ? limit : "";
    this.#toggle(this.#first, after !== "");
    this.#toggle(this.#previous, after !== "");
    this.#verified.textContent = "";
  }

  /** Shows or hides a button; a hidden one leaves the focus to the menu, so that the keyboard stays here. */
  #toggle(button, isShown) {
    if (!isShown && button === document.activeElement) this.#size.focus();
    button.hidden = !isShown;
  }

  /** The range of the shown users, in words. */
  get place() {
    return this.#count.textContent;
  }

  /** total: a ListTotal. order: the waiting changes of RowOrder. shown: the number of rows in the table. */
  show({ model, isPolled, refusal }, { total, limit, order, paused, shown }) {
    setText(this.#waiting, paused === null ? "" : `paused, ${inDigits(paused)} waiting`);
    this.#apply.hidden = !order || paused !== null;
    if (order) setText(this.#apply, `${waitingInWords(order)} · apply`);
    const count = model.users.length;
    setText(this.#count, model.isComplete ? placeInWords(count, total) : missingInWords(refusal, shown));
    if (model.isComplete) this.#toggle(this.#next, count >= limit);
    if (model.verifiedAt !== null) setText(this.#verified, `✓ verified at revision ${inDigits(model.verifiedAt)}`);
    else setText(this.#verified, isPolled ? "read again after changes" : "");
  }
}

/** "3 users", or "51–100 of 3,210 users". */
function placeInWords(count, { all, before }) {
  if (all === null || (all === count && before === 0)) return counted(count, "user");
  if (before === null || count === 0) return `${inDigits(count)} of ${counted(all, "user")}`;
  // The rows may be newer than the numbers.
  const last = before + count;
  return `${inDigits(before + 1)}–${inDigits(last)} of ${counted(Math.max(all, last), "user")}`;
}

/** The text in place of a missing list. */
function missingInWords(refusal, shown) {
  if (!refusal) return "loading…";
  return shown === 0 ? "no rows: the server refused the query" : "rows of the query before, which the server accepted";
}

function waitingInWords({ added, removed, isReordered }) {
  return [added && `${inDigits(added)} new`, removed && `${inDigits(removed)} gone`, isReordered && "order changed"]
    .filter(Boolean).join(", ");
}
