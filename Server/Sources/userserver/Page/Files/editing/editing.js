/**
 * Edits of values: opening, saving, and discarding drafts, and the focus afterwards.
 *
 * Lives as long as the page, as drafts do, while tables of users come and go.
 */
import { plainText } from "../shared/characters.js";
import { UserDialog } from "./user-dialog.js";

export class Editing {
  /** The UsersGrid that is shown, or null. */
  grid = null;
  /** The actions of the editors. */
  actions;
  #app;

  constructor(app) {
    this.#app = app;
    this.actions = {
      save: (draft) => this.#save(draft),
      discard: (draft) => this.#discard(draft),
      changed: (draft) => app.drafts.changed(draft),
      announce: (text) => app.announcer.announce(text, "draft"),
    };
  }

  /** Opens the editor of a cell; if the server is read-only, opens the whole user. */
  edit(user, attribute) {
    const { about, drafts, writes } = this.#app;
    if (about.isReadOnly) {
      this.open(user);
      return;
    }
    const value = writes.pendingValue(user.id, attribute) ?? user.value(attribute);
    const draft = drafts.open(user.id, attribute, value);
    this.grid.refreshNow(user.id);
    draft.editor.focus();
  }

  open(user) {
    new UserDialog(this.#app, user.id, this.actions).show();
  }

  async #save(draft) {
    const { announcer, writes } = this.#app;
    if (draft.isSaving) return;
    const hadFocus = hasFocus(draft);
    const result = await writes.save(draft);
    if (result !== "refused" && hadFocus) this.#returnFocus(draft);
    if (result === "unchanged") return;
    const saved = `Saved ${plainText(draft.attribute)} of user ${draft.user}.`;
    const text = result === "saved" ? saved : draft.problem ?? "The value was not saved.";
    announcer.announce(text, `saved ${draft.user}`);
  }

  #discard(draft) {
    const hadFocus = hasFocus(draft);
    this.#app.drafts.close(draft);
    if (hadFocus) this.#returnFocus(draft);
  }

  /** Returns the focus to the cell, unless somebody has moved it meanwhile. */
  #returnFocus(draft) {
    if (draft.host) {
      draft.host.returnFocus(draft);
      return;
    }
    const { activeElement } = document;
    if (!this.grid || (activeElement && activeElement !== document.body && !hasFocus(draft))) return;
    this.grid.refreshNow(draft.user);
    this.grid.focus(draft.user, draft.attribute);
  }
}

const hasFocus = ({ editor }) => editor?.element.contains(document.activeElement) ?? false;
