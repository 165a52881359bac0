/** The view of the log: live changes, the newest at the end. */
import { ChangeDialog } from "./change-dialog.js";
import { button, element, inDigits, setText } from "../shared/dom.js";
import { inNextFrame } from "../shared/frames.js";
import { logRow, operations } from "./log-row.js";
import { shownRows } from "./log-model.js";
import { problemText } from "../shared/notices.js";
import { lastRows, readPastLog } from "./past.js";
import { PauseButton } from "../shared/pause-button.js";

/** The distance to the end, in pixels, that still counts as the end. */
const endDistance = 24;
/** If more rows come in one frame, only the visible ones are rendered; the others follow after a pause. */
const stormRows = 60;
const calmTime = 300;

/** Whether the log is hidden beside the users, according to the address. */
export const isLogHidden = ({ path, parameters }) => path !== "/log" && parameters.get("log") === "hidden";

export class LogView {
  element;
  #app;
  #log;
  #list;
  #scroller;
  #parts = {};
  /** The reasons why rows wait: button, scroll, pointer, focus. */
  #reasons = new Set();
  #rendered = [];
  #active = null;
  /** Whether a person has chosen the active row by focusing it. */
  #isChosen = false;
  /** Whether older rows have yet to be rendered. */
  #isPartial = false;
  #calm = null;
  /** Ends reading the past when the filter changes. */
  #reading = null;
  /** The state of the past: null, "reading", "last" rows, the "whole" log, or an Error. */
  #past = null;

  constructor(app) {
    this.#app = app;
    this.#log = app.feed.log;
    this.#build();
    app.feed.updates.add(this.#renderSoon);
    this.addressChanged();
    if (this.#isFiltered && this.#past === null) this.#readPast();
    this.#renderSoon();
  }

  close() {
    this.#reading?.abort();
    this.#app.feed.updates.remove(this.#renderSoon);
    this.#reasons.clear();
    if (this.#log.isPaused) this.#log.resume();
  }

  #build() {
    const label = "Changes, the newest last. Enter shows one in full.";
    this.#list = element("ol", { class: "log-rows", "aria-label": label });
    this.#scroller = element("div", { class: "log-scroll" }, this.#list);
    this.#parts.pause = new PauseButton("pause-log", () => this.#toggle());
    this.#parts.state = element("span", { class: "waiting", id: "log-state" });
    this.#parts.count = element("span", { class: "row-count", id: "log-count" });
    this.#parts.newest = button("Newest", () => this.#goToNewest(), { class: "small", id: "newest", hidden: true });
    this.#parts.older = button("Older", () => this.#readPast(), { class: "small", id: "older", hidden: true });
    this.#parts.past = element("span", { class: "log-past", id: "log-past" });
    this.#parts.empty = element("p", { class: "empty", hidden: true }, "No changes yet.");
    this.element = element("section", { class: "card log-card", "aria-labelledby": "log-title" },
      element("div", { class: "card-head" }, element("h2", { id: "log-title" }, "Log"), this.#parts.state,
        element("span", { class: "spacer" }), this.#parts.newest, this.#parts.pause.element),
      this.#filters(), this.#scroller, this.#parts.empty,
      element("div", { class: "card-foot" }, this.#parts.count, this.#parts.past, element("span", { class: "spacer" }),
        this.#parts.older));
    this.#scroller.addEventListener("scroll", () => this.#scrolled(), { passive: true });
    this.#listen(this.#list);
    new ResizeObserver(() => this.#reasons.size === 0 && this.#scrollToEnd()).observe(this.#scroller);
  }

  #listen(list) {
    list.addEventListener("pointerenter", ({ pointerType }) => pointerType === "mouse" && this.#hold("pointer", true));
    list.addEventListener("pointerleave", () => this.#hold("pointer", false));
    list.addEventListener("focusin", ({ target }) => this.#focused(target));
    list.addEventListener("focusout", ({ relatedTarget }) => {
      if (!list.contains(relatedTarget)) this.#hold("focus", false);
    });
    list.addEventListener("keydown", (event) => this.#key(event));
    list.addEventListener("click", ({ target }) => {
      // Marked text is probably to be copied.
      if (getSelection().isCollapsed) target.closest(".log-row")?.open();
    });
  }

  // MARK: Filter

  #filters() {
    const change = () => this.#setFilter();
    const field = (name, placeholder, label) => element("input", {
      type: "search", placeholder, "aria-label": label, id: `log-${name}`, spellcheck: "false", autocomplete: "off",
      on: { change, search: change },
    });
    const options = Object.entries({ "": "all", ...operations })
      .map(([value, text]) => element("option", { value }, text));
    this.#parts.attribute = field("attribute", "attribute", "Only this attribute");
    this.#parts.op = element("select", { "aria-label": "Only this operation", id: "log-op", on: { change } }, options);
    this.#parts.user = field("user", "user id", "Only the user with this id");
    const submit = (event) => {
      event.preventDefault();
      change();
    };
    this.#parts.problem = element("p", { class: "form-problem", id: "log-problem" });
    this.#parts.user.setAttribute("aria-describedby", "log-problem");
    return element("form", { class: "log-filter", role: "search", on: { submit } },
      this.#parts.attribute, this.#parts.op, this.#parts.user, this.#parts.problem);
  }

  #setFilter() {
    const { attribute, op, user } = this.#parts;
    const filter = { attribute: attribute.value, op: op.value, user: user.value.trim() };
    if (!this.#checkUser(filter.user)) return;
    this.#app.router.set({ attribute: filter.attribute, op: filter.op, user: filter.user }, { replaces: true });
  }

  addressChanged() {
    const parameters = this.#app.router.parameters;
    this.element.hidden = isLogHidden(this.#app.router);
    const filter = {};
    for (const name of ["attribute", "op", "user"]) {
      filter[name] = parameters.get(name) ?? "";
      if (this.#parts[name].value !== filter[name]) this.#parts[name].value = filter[name];
    }
    // An invalid id stays in the field, with the reason, and filters nothing.
    if (!this.#checkUser(filter.user)) filter.user = "";
    if (Object.keys(filter).every((name) => filter[name] === this.#log.filter[name])) return;
    this.#log.setFilter(filter);
    this.#reading?.abort();
    this.#past = null;
    this.#renderAgain();
    if (this.#isFiltered) this.#readPast();
  }

  /** Marks the field if its text is no id; returns whether it is one, or empty. */
  #checkUser(text) {
    const isID = /^(?:-?\d{1,19})?$/.test(text);
    this.#parts.user.setAttribute("aria-invalid", String(!isID));
    setText(this.#parts.problem, isID ? "" : "The id of a user is a whole number.");
    return isID;
  }

  // MARK: The past

  get #isFiltered() {
    return Object.values(this.#log.filter).some(Boolean);
  }

  /** Reads changes from before those that the window holds. */
  async #readPast() {
    const reading = new AbortController();
    this.#reading?.abort();
    this.#reading = reading;
    this.#past = "reading";
    this.#renderSoon();
    try {
      const { rows, isWhole } = await readPastLog(this.#app.api, this.#log.filter, reading.signal);
      if (reading.signal.aborted) return;
      this.#past = isWhole ? "whole" : "last";
      this.#log.showPast(rows);
      if (this.#isFiltered) this.#renderAgain();
      else this.#renderPast();
    } catch (error) {
      if (reading.signal.aborted) return;
      this.#past = error;
      this.#renderSoon();
    }
  }

  #showPast() {
    const { older, past, empty } = this.#parts;
    const [found, none] = this.#pastInWords();
    older.hidden = this.#isFiltered || this.#past !== null || !this.#log.hasOlder;
    setText(past, found);
    setText(empty, none);
  }

  /** Describes the shown part of the log; also returns the text for an empty list. */
  #pastInWords() {
    const last = `the last ${inDigits(lastRows)} rows of the log`;
    if (this.#past instanceof Error) {
      return [`older changes cannot be read: ${problemText(this.#past)}`, "No changes are shown."];
    }
    switch (this.#past) {
      case "reading": return ["reading the log…", "Reading the log…"];
      case "whole": return ["the whole log was searched", "No change in the log meets this filter."];
      case "last":
        return this.#isFiltered
          ? [`only ${last} were searched`, `No change in ${last} meets this filter.`]
          : [`from ${last}; for older changes, filter by a user`, "No changes yet."];
      default: return ["", "No changes yet."];
    }
  }

  /** Adds older rows at the front, and scrolls to their end. */
  #renderPast() {
    this.#fillOlder();
    const rows = this.#log.rows.slice(-this.#maximumRows);
    const known = new Set(rows);
    const first = this.#rendered.findIndex((row) => known.has(row));
    if (first < 0) {
      this.#renderAgain();
      return;
    }
    // The rows of a partly held first set come again.
    for (let index = 0; index < first; index += 1) this.#list.firstElementChild.remove();
    const { scrollHeight, clientHeight } = this.#scroller;
    const older = rows.slice(0, rows.indexOf(this.#rendered[first]));
    this.#list.prepend(...older.map(this.#makeRow));
    this.#rendered = [...older, ...this.#rendered.slice(first)];
    this.#scroller.scrollTop = this.#scroller.scrollHeight - scrollHeight - clientHeight / 2;
    this.#renderSoon();
  }

  #renderAgain() {
    this.#rendered = [];
    this.#list.replaceChildren();
    this.#renderSoon();
  }

  // MARK: Pausing

  #hold(reason, isHeld) {
    if (isHeld === this.#reasons.has(reason)) return;
    if (isHeld) this.#reasons.add(reason);
    else this.#reasons.delete(reason);
    if (this.#reasons.size > 0) {
      this.#log.pause();
      this.#fillOlder();
    } else if (this.#log.isPaused) {
      this.#log.resume();
    }
    this.#renderSoon();
  }

  #toggle() {
    if (this.#reasons.size > 0) this.#goToNewest();
    else this.#hold("button", true);
  }

  #goToNewest() {
    this.#reasons.clear();
    this.#log.resume();
    this.#renderSoon();
    inNextFrame(() => this.#scrollToEnd());
  }

  #scrolled() {
    const { scrollHeight, scrollTop, clientHeight } = this.#scroller;
    this.#hold("scroll", scrollHeight - scrollTop - clientHeight > endDistance);
  }

  #scrollToEnd() {
    this.#scroller.scrollTop = this.#scroller.scrollHeight;
  }

  // MARK: Rendering

  #renderSoon = () => inNextFrame(this.#render);

  #render = () => {
    const log = this.#log;
    if (this.#reasons.size === 0 || this.#rendered.length === 0) this.#renderRows();
    const parts = this.#parts;
    const isPaused = this.#reasons.size > 0;
    setText(parts.state, isPaused ? `paused, ${inDigits(log.waiting)} waiting` : "");
    parts.pause.isPaused = isPaused;
    parts.newest.hidden = !this.#reasons.has("scroll");
    setText(parts.count, `${inDigits(log.count)} ${log.count === 1 ? "change" : "changes"} received`);
    parts.count.dataset.count = log.count;
    parts.empty.hidden = log.rows.length > 0;
    this.#showPast();
  };

  /** Larger if older rows were requested. */
  get #maximumRows() {
    return this.#past === "last" && !this.#isFiltered ? shownRows + lastRows : shownRows;
  }

  /** Adds new rows at the end, and removes as many at the front. */
  #renderRows() {
    const rows = this.#log.rows.slice(-this.#maximumRows);
    const last = this.#rendered.at(-1);
    const start = last ? rows.lastIndexOf(last) + 1 : 0;
    const fresh = rows.slice(start);
    if (start === 0 || fresh.length > stormRows) this.#renderNewest(rows);
    else if (fresh.length > 0) this.#append(fresh);
    this.#rendered = rows;
    if (fresh.length > 0) this.#scrollToEnd();
    this.#updateTabStop();
  }

  #append(fresh) {
    const surplus = this.#list.children.length + fresh.length - this.#maximumRows;
    for (let removed = 0; removed < surplus; removed += 1) this.#list.firstElementChild.remove();
    this.#list.append(...fresh.map(this.#makeRow));
  }

  #renderNewest(rows) {
    this.#list.replaceChildren(...rows.slice(-stormRows).map(this.#makeRow));
    this.#isPartial = rows.length > stormRows;
    clearTimeout(this.#calm);
    if (this.#isPartial) this.#calm = setTimeout(() => this.#fillOlder(), calmTime);
  }

  /** Renders the older rows that a storm has skipped, without moving visible ones. */
  #fillOlder() {
    clearTimeout(this.#calm);
    if (!this.#isPartial) return;
    this.#isPartial = false;
    const missing = this.#rendered.slice(0, Math.max(0, this.#rendered.length - this.#list.children.length));
    const { scrollHeight, scrollTop } = this.#scroller;
    this.#list.prepend(...missing.map(this.#makeRow));
    this.#scroller.scrollTop = scrollTop + this.#scroller.scrollHeight - scrollHeight;
  }

  #makeRow = (row) => logRow(row, this.#open);

  // MARK: Keyboard

  /** The newest row until a person chooses one: a new page may receive the log in several parts. */
  #updateTabStop() {
    if (this.#isChosen && this.#active?.isConnected) return;
    this.#isChosen = false;
    this.#setTabStop([...this.#list.querySelectorAll(".log-row")].at(-1) ?? null);
  }

  #setTabStop(item) {
    if (this.#active) this.#active.tabIndex = -1;
    this.#active = item;
    if (item) item.tabIndex = 0;
  }

  #focused(target) {
    const item = target.closest(".log-row");
    if (item) {
      this.#isChosen = true;
      this.#setTabStop(item);
    }
    this.#hold("focus", true);
  }

  #key(event) {
    const item = event.target.closest(".log-row");
    if (!item) return;
    const items = [...this.#list.querySelectorAll(".log-row")];
    const index = items.indexOf(item);
    const last = items.length - 1;
    const targets = {
      ArrowUp: index - 1, ArrowDown: index + 1, PageUp: index - 10, PageDown: index + 10, Home: 0, End: last,
    };
    if (event.key in targets) {
      event.preventDefault();
      items[Math.max(0, Math.min(last, targets[event.key]))].focus();
    } else if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      item.open();
    }
  }

  #open = (row) => new ChangeDialog(this.#app, row).show();
}
