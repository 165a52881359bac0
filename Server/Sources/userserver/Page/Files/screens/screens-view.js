/** The view of the screens: through named listeners, all of them show an edit on one. */
import { ScreenStack } from "./screen-stack.js";
import { plainText } from "../shared/characters.js";
import { button, element, inDigits, setText } from "../shared/dom.js";
import { PauseButton } from "../shared/pause-button.js";
import { NameDialog } from "./name-dialog.js";
import { integer } from "../shared/json.js";
import { decodeUser } from "../shared/user.js";
import { unset } from "../shared/values.js";

const listedUsers = 200;
/** The delay from a change of a name to reading the menu of users again. */
const listInterval = 300;

export class ScreensView {
  element;
  #app;
  #user = null;
  #revision = 0;
  #id = null;
  #stacks = [];
  #parts = {};
  #pause = new PauseButton("pause-screens", () => this.#togglePause());
  #waiting = [];
  #listTimer = null;

  constructor(app) {
    this.#app = app;
    this.#parts.select = element("select", { id: "screens-user", "aria-label": "User", on: {
      change: ({ target }) => app.router.set({ user: target.value }),
      focus: () => this.#listUsers(),
    } });
    this.#parts.state = element("span", { class: "waiting" });
    this.#parts.stacks = element("div", { class: "stacks" });
    this.element = element("div", { class: "screens-view" },
      element("div", { class: "view-head" }, element("h2", {}, "Screens"),
        element("label", { class: "inline" }, "User ", this.#parts.select), this.#parts.state,
        element("span", { class: "spacer" }), this.#pause.element),
      element("p", { class: "lead" },
        "Three screens show one user. Press a name to change it; other windows and programs may change it, too. "
        + "A listener with a name is replaced when its screen is entered again. Without names, they pile up."),
      this.#parts.stacks);
    app.feed.changes.add(this.#take);
    this.#start();
  }

  close() {
    this.#app.feed.changes.remove(this.#take);
    clearTimeout(this.#listTimer);
  }

  addressChanged() {
    this.#start();
  }

  // MARK: The user

  async #start() {
    const wanted = this.#app.router.parameters.get("user");
    if (this.#id !== null && (wanted === null || wanted === this.#id)) return;
    try {
      const json = await this.#read(wanted === null ? {} : { where: `id=${wanted}` });
      this.#user = json.get("users").map(decodeUser)[0] ?? null;
      this.#id = this.#user?.id ?? null;
      this.#revision = integer(json.get("revision"));
      await this.#listUsers();
      this.#build();
    } catch (error) {
      this.#app.notices.showProblem(error);
    }
  }

  async #read(query) {
    const { json } = await this.#app.api.get(`/users?${new URLSearchParams({ ...query, limit: "1" })}`);
    return json;
  }

  async #listUsers() {
    const { json } = await this.#app.api.get(`/users?limit=${listedUsers}`);
    const users = json.get("users").map(decodeUser);
    if (this.#user && !users.some(({ id }) => id === this.#id)) users.push(this.#user);
    this.#showOptions(users);
  }

  /** Changes only the options that differ, since the menu may be open. */
  #showOptions(users) {
    const { select } = this.#parts;
    const old = new Map([...select.options].map((option) => [option.value, option]));
    users.forEach((user, index) => {
      const option = old.get(user.id) ?? element("option", { value: user.id });
      setText(option, optionText(user));
      if (select.options[index] !== option) select.insertBefore(option, select.options[index] ?? null);
    });
    while (select.options.length > users.length) select.lastElementChild.remove();
    select.value = this.#id ?? "";
  }

  #listSoon() {
    this.#listTimer ??= setTimeout(async () => {
      this.#listTimer = null;
      try {
        await this.#listUsers();
      } catch {
        // The next change, or the focus, reads the users again.
      }
    }, listInterval);
  }

  #build() {
    this.#app.shellLine.show(this.#user ? [this.#id] : []);
    if (!this.#user) {
      const canAdd = !this.#app.about.isReadOnly;
      this.#parts.stacks.replaceChildren(element("div", { class: "empty" }, element("p", {}, "There is no such user."),
        canAdd && button("Add three sample users", async () => {
          await this.#app.writes.addSamples();
          this.#start();
        }, { class: "primary" })));
      return;
    }
    const source = {
      present: (attribute) => this.#user?.value(attribute) ?? unset,
      editName: () => this.#edit(),
    };
    this.#stacks = [
      new ScreenStack("with-names", "With names", true, source),
      new ScreenStack("without-names", "Without names", false, source),
    ];
    this.#parts.stacks.replaceChildren(...this.#stacks.map((stack) => stack.element));
  }

  #edit() {
    if (this.#app.about.isReadOnly) this.#app.notices.show("This server is read-only.");
    else if (this.#user) new NameDialog(this.#app, this.#user).show();
  }

  // MARK: Changes

  #take = (changes) => {
    if (changes.some(({ attribute }) => attribute === "name")) this.#listSoon();
    for (const change of changes) {
      if (change.user !== this.#id || change.set.revision <= this.#revision) continue;
      if (this.#pause.isPaused) this.#waiting.push(change);
      else this.#apply(change);
    }
    this.#showState();
  };

  #apply(change) {
    const { op, attribute, new: value } = change;
    this.#user = op === "delete" ? this.#user.with(attribute, unset) : this.#user.with(attribute, value);
    if (attribute === "name") setText(this.#parts.select.selectedOptions[0], optionText(this.#user));
    if (attribute === "name" || attribute === "hair_color") {
      for (const stack of this.#stacks) stack.notify(attribute, this.#user.value(attribute));
    }
  }

  #togglePause() {
    this.#pause.isPaused = !this.#pause.isPaused;
    if (!this.#pause.isPaused) for (const change of this.#waiting.splice(0)) this.#apply(change);
    this.#showState();
  }

  #showState() {
    setText(this.#parts.state, this.#pause.isPaused ? `paused, ${inDigits(this.#waiting.length)} waiting` : "");
  }
}

const optionText = (user) => `${user.id}  ${plainText(user.value("name").text ?? "removed", 40)}`;
