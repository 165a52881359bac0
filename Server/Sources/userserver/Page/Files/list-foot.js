/** The line below the table: how many users there are, whether they are those of the server, what waits, and pages. */
import { button, counted, element, inDigits, setText } from "./dom.js";
import { pageSizes } from "./users-query.js";

export class ListFoot {
  element;
  #waiting = element("span", { class: "waiting" });
  #apply;
  #count = element("span", { class: "row-count", id: "row-count" });
  #verified = element("span", { class: "verified", id: "verified" });
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

  /** total: the number of users who meet the conditions, or null. order: what waits, as RowOrder has it. */
  show({ model, isPolled }, { total, limit, order, paused }) {
    setText(this.#waiting, paused === null ? "" : `paused, ${inDigits(paused)} waiting`);
    this.#apply.hidden = !order || paused !== null;
    if (order) setText(this.#apply, `${waitingInWords(order)} · apply`);
    const count = model.users.length;
    setText(this.#count, model.isComplete ? countInWords(count, total) : "loading…");
    this.#next.hidden = count < limit;
    if (model.verifiedAt !== null) setText(this.#verified, `✓ verified at revision ${inDigits(model.verifiedAt)}`);
    else setText(this.#verified, isPolled ? "read again after changes" : "");
  }
}

const countInWords = (count, total) =>
  total === null || total === count ? counted(count, "user") : `${inDigits(count)} of ${counted(total, "user")}`;

function waitingInWords({ added, removed, isReordered }) {
  return [added && `${inDigits(added)} new`, removed && `${inDigits(removed)} gone`, isReordered && "order changed"]
    .filter(Boolean).join(", ");
}
