/** The view of users: a live table for filtering, sorting, paging, and editing. */
import { askForUser } from "./add-dialog.js";
import { button, element, inDigits, setText } from "../shared/dom.js";
import { FilterBar } from "./filter-bar.js";
import { inNextFrame } from "../shared/frames.js";
import { ListFoot } from "./list-foot.js";
import { ListSession } from "./list-session.js";
import { ListTotal } from "./list-total.js";
import { isLogHidden } from "../log/log-view.js";
import { PauseButton } from "../shared/pause-button.js";
import { UsersGrid } from "./users-grid.js";
import { UsersQuery } from "./users-query.js";

export class UsersView {
  element;
  #app;
  #grid;
  #filterBar;
  #foot;
  #total;
  #pause = new PauseButton("pause-users", () => this.#togglePause());
  #log = button("", () => this.#toggleLog(), { id: "toggle-log" });
  #undo = button("Undo", () => this.#undoLast(), { id: "undo" });
  #empty = element("div", { class: "empty", hidden: true, data: { state: "" } });
  #session = null;
  #query = null;
  /** Whether the rows of a new query have yet to come, which then replace the old ones at once. */
  #isNewQuery = true;
  /** The ids of users with new values since the last frame; null for all. */
  #updated = null;
  /** The shown users while paused, and the number of changes since. */
  #frozen = null;
  #waiting = 0;
  /** The user that was added here, as {user, revision}, until the list contains it. */
  #added = null;
  /** Whether another page was requested, which is announced when it comes. */
  #isTurning = false;

  constructor(app) {
    this.#app = app;
    this.#total = new ListTotal(app.api, this.#renderSoon);
    this.#build();
    app.editing.grid = this.#grid;
    app.drafts.changes.add(this.#draftChanged);
    app.writes.changes.add(this.#writesChanged);
    app.feed.changes.add(this.#usersChanged);
    this.addressChanged();
  }

  close() {
    this.#app.editing.grid = null;
    this.#total.close();
    this.#session.close();
    this.#app.drafts.changes.remove(this.#draftChanged);
    this.#app.writes.changes.remove(this.#writesChanged);
    this.#app.feed.changes.remove(this.#usersChanged);
  }

  #build() {
    const { about, drafts, editing, router, writes } = this.#app;
    const canWrite = !about.isReadOnly;
    this.#filterBar = new FilterBar(
      (condition) => this.#check(condition), (conditions) => this.#setConditions(conditions));
    this.#grid = new UsersGrid({
      drafts, writes, isReadOnly: about.isReadOnly, editorActions: editing.actions,
      open: (user) => editing.open(user), remove: (user) => writes.remove(user),
    }, {
      sort: (attribute, isAdded) => router.set({ sort: this.#query.sortedBy(attribute, isAdded), after: null }),
      edit: (user, attribute) => editing.edit(user, attribute),
      release: () => this.#renderSoon(),
    });
    // Below the rows, so that appearing buttons do not move them.
    this.#foot = new ListFoot({
      apply: () => this.#render(null, { applies: true }),
      goToFirst: () => this.#turnTo(null),
      goTo: (page) => this.#goTo(page),
      resize: (limit) => router.set({ limit, after: null }),
    });
    this.element = element("section", {
      class: "card users-card", "aria-labelledby": "users-title", on: { keydown: (event) => this.#key(event) },
    },
    element("div", { class: "card-head" }, element("h2", { id: "users-title" }, "Users"),
      element("span", { class: "spacer" }),
      canWrite && [button("Add user", () => this.#add(), { class: "primary", id: "add-user" }), this.#undo],
      this.#log, this.#pause.element),
    this.#filterBar.element, this.#grid.element, this.#empty, this.#foot.element);
    this.#showUndo();
  }

  // MARK: The list

  addressChanged() {
    setText(this.#log, this.#isLogHidden ? "Show log" : "Hide log");
    const query = new UsersQuery(this.#app.router.parameters);
    if (query.text === this.#query?.text) return;
    this.#query = query;
    this.#isNewQuery = true;
    this.#filterBar.show(query.conditions);
    this.#grid.sort = query.sort;
    this.#foot.showQuery(query);
    this.#total.use(query);
    this.#frozen = null;
    this.#pause.isPaused = false;
    this.#session?.close();
    this.#session = new ListSession(this.#app.streams, query.text, {
      changed: (result) => this.#changed(result),
      differed: (revision) => this.#app.notices.show(
        `The list differed from the server's at revision ${inDigits(revision)}. It is loaded again.`),
      refused: () => {
        this.#filterBar.showProblem(this.#session.refusal);
        this.#renderSoon();
      },
    });
    this.#renderSoon();
  }

  #changed({ rows, steps, updated }) {
    const { model } = this.#session;
    if (rows || steps) {
      this.#observeDrafts(rows ? null : new Set(updated));
      this.#total.changed(model);
      if (this.#frozen) this.#waiting += 1;
    }
    if (rows) this.#updated = null;
    else if (updated && this.#updated) this.#updated = [...this.#updated, ...updated];
    this.#renderSoon();
  }

  /** Updates drafts with the current values of users; `updated` are ids, or null for all. */
  #observeDrafts(updated) {
    const { drafts } = this.#app;
    if (drafts.size === 0) return;
    for (const user of this.#session.model.users) {
      if (updated === null || updated.has(user.id)) drafts.observeUser(user);
    }
  }

  #renderSoon = () => inNextFrame(this.#renderUpdates);

  #renderUpdates = () => {
    const updated = this.#updated;
    this.#updated = [];
    this.#render(updated, { applies: this.#isNewQuery && this.#session.model.isComplete });
  };

  #render(updated, { applies }) {
    const { model } = this.#session;
    const { order } = this.#grid;
    this.#app.writes.passed(model.revision);
    if (this.#frozen) {
      this.#updated = null;
      this.#grid.show(this.#frozen, { updated: [] });
    } else if (model.isComplete) {
      this.#grid.show(model.users, { updated, applies });
      this.#isNewQuery = false;
    }
    const paused = this.#frozen ? this.#waiting : null;
    this.#foot.show(this.#session, {
      total: this.#total, limit: this.#query.limit, order: order.waiting, paused, shown: order.shown.length,
    });
    this.#grid.showPlace(this.#total);
    this.#announcePage();
    this.#showEmpty(model.isComplete && order.shown.length === 0);
    this.#app.shellLine.show(model.users.map(({ id }) => id));
    document.documentElement.dataset.listRevision = model.revision;
    this.#app.revisionReached(model.revision);
    this.#focusAdded();
  }

  #showEmpty(isEmpty) {
    const isFiltered = this.#query.conditions.length > 0 || this.#query.after !== "";
    const state = isEmpty ? (isFiltered ? "filtered" : "empty") : "";
    if (this.#empty.dataset.state === state) return;
    this.#empty.dataset.state = state;
    this.#empty.hidden = !isEmpty;
    this.element.classList.toggle("is-empty", isEmpty);
    const text = isFiltered ? "No user meets these conditions." : "There are no users yet.";
    this.#empty.replaceChildren(element("p", {}, text));
    if (state !== "empty" || this.#app.about.isReadOnly) return;
    this.#empty.append(button("Add three sample users", async ({ target }) => {
      target.disabled = true;
      await this.#app.writes.addSamples();
      target.disabled = false;
    }, { class: "primary", id: "add-samples" }));
  }

  /** Users on other pages, or on none, may have changed. */
  #usersChanged = (changes) => {
    if (this.#query.isCountedAnew(changes)) this.#total.changed(this.#session.model);
  };

  #announcePage() {
    if (!this.#isTurning || !this.#session.model.isComplete || this.#total.before === null) return;
    this.#isTurning = false;
    this.#app.announcer.announce(`Users ${this.#foot.place}.`, "page");
  }

  get #isLogHidden() {
    return isLogHidden(this.#app.router);
  }

  #toggleLog() {
    this.#app.router.set({ log: this.#isLogHidden ? null : "hidden" }, { replaces: true });
  }

  #togglePause() {
    if (this.#frozen) {
      this.#frozen = null;
      this.#updated = null;
    } else {
      this.#frozen = [...this.#session.model.users];
      this.#waiting = 0;
    }
    this.#pause.isPaused = Boolean(this.#frozen);
    this.#renderSoon();
  }

  // MARK: Queries

  /** Returns the Problem if the server refuses a condition, or null. */
  async #check({ parameter, text }) {
    try {
      await this.#app.api.get(`/users?${new URLSearchParams({ [parameter]: text, limit: "1" })}`);
      return null;
    } catch (error) {
      return error;
    }
  }

  #setConditions(conditions) {
    const of = (name) => conditions.filter(({ parameter }) => parameter === name).map(({ text }) => text);
    this.#app.router.set({ where: of("where"), with: of("with"), without: of("without"), after: null });
  }

  #turnTo(after) {
    this.#isTurning = true;
    this.#app.router.set({ after });
  }

  async #goTo(page) {
    try {
      const { json } = await this.#app.api.get(`/users?${this.#query.text}&previous=${page === "previous"}`);
      const after = json.get(page);
      // Without a place, the previous page is the first one.
      if (after || page === "previous") this.#turnTo(after);
      else this.#app.notices.show("This is the last page.");
    } catch (error) {
      this.#app.notices.showProblem(error);
    }
  }

  // MARK: Writing

  async #add() {
    this.#added = await askForUser(this.#app);
    this.#renderSoon();
  }

  /** Focuses the row of a user that was added here when it comes. */
  #focusAdded() {
    if (!this.#added || this.#session.model.revision < this.#added.revision) return;
    const { id } = this.#added.user;
    this.#added = null;
    if (this.#grid.order.shown.includes(id)) this.#grid.focus(id, "name");
  }

  #key(event) {
    if (event.key !== "z" || !(event.ctrlKey || event.metaKey) || event.target.matches("input, textarea")) return;
    event.preventDefault();
    this.#undoLast();
  }

  #undoLast() {
    const last = this.#app.writes.done.at(-1);
    if (last) this.#app.writes.undo(last.revision);
  }

  #showUndo() {
    const last = this.#app.writes.done.at(-1);
    this.#undo.disabled = !last;
    this.#undo.title = last
      ? `Undo (Ctrl+Z): ${last.label}`
      : "Nothing was written here since the page was loaded. Earlier writes can be undone in the log.";
  }

  #draftChanged = ({ user }) => this.#grid.refresh(user);

  #writesChanged = (user) => {
    if (user !== null) this.#grid.refresh(user);
    this.#showUndo();
  };
}
