/** The line below the table: how many users there are, whether they are those of the server, what waits, and pages. */
import { button, counted, element, inDigits, setText } from "./dom.js";
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
  #next;
  #size;

  /** actions: apply() moves the rows that wait; goToFirst() and goToNext() show other pages; resize(limit). */
  constructor({ apply, goToFirst, goToNext, resize }) {
    this.#apply = button("", apply, { class: "small apply", id: "apply-order", hidden: true });
    this.#first = button("First page", goToFirst, { class: "small", hidden: true });
    this.#next = button("Next page", goToNext, { class: "small", id: "next-page", hidden: true });
    this.#size = element("select", {
      "aria-label": "Rows on a page", class: "small", on: { change: () => resize(this.#size.value) },
    }, pageSizes.map((size) => element("option", { value: size }, `${inDigits(size)} rows`)));
    this.element = element("div", { class: "card-foot" }, this.#waiting, this.#apply, this.#count, this.#verified,
      element("span", { class: "spacer" }), this.#first, this.#next, this.#size);
  }

  showQuery({ limit, after }) {
    this.#size.value = pageSizes.includes(limit) ? limit : "";
    this.#first.hidden = after === "";
    this.#verified.textContent = "";
  }

  /**
   * total: the number of users who meet the conditions, or null. order: what waits, as RowOrder has it. shown: the
   * number of rows in the table.
   */
  show({ model, isPolled, refusal }, { total, limit, order, paused, shown }) {
    setText(this.#waiting, paused === null ? "" : `paused, ${inDigits(paused)} waiting`);
    this.#apply.hidden = !order || paused !== null;
    if (order) setText(this.#apply, `${waitingInWords(order)} · apply`);
    const count = model.users.length;
    setText(this.#count, model.isComplete ? countInWords(count, total) : missingInWords(refusal, shown));
    this.#next.hidden = count < limit;
    if (model.verifiedAt !== null) setText(this.#verified, `✓ verified at revision ${inDigits(model.verifiedAt)}`);
    else setText(this.#verified, isPolled ? "read again after changes" : "");
  }
}

const countInWords = (count, total) =>
  total === null || total === count ? counted(count, "user") : `${inDigits(count)} of ${counted(total, "user")}`;

/** What is shown instead of the list. */
function missingInWords(refusal, shown) {
  if (!refusal) return "loading…";
  return shown === 0 ? "no rows: the server refused the query" : "rows of the query before, which the server accepted";
}

function waitingInWords({ added, removed, isReordered }) {
  return [added && `${inDigits(added)} new`, removed && `${inDigits(removed)} gone`, isReordered && "order changed"]
    .filter(Boolean).join(", ");
}
