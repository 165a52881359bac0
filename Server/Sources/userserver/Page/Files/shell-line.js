/** A line for a shell that changes a user from outside, to demonstrate that the page shows it. */
import { plainText } from "./shared/characters.js";
import { button, element, setText } from "./shared/dom.js";

const shellQuoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

/** database: the path of a file, or the URL of a database on PostgreSQL. */
export function shellLine(database, { id = "1", name = "Zoë" } = {}) {
  // Names with other characters would need SQL quotes inside those of the shell.
  const change = (users) => `"UPDATE ${users} SET name = '${name}' WHERE id = ${id}"`;
  if (/^postgres(ql)?:/.test(database)) return `psql ${shellQuoted(database)} -c ${change("userstore.users")}`;
  return `sqlite3 ${shellQuoted(database)} ${change("users")}`;
}

/** The line and its copy button, for a shown user; hidden if there is none. */
export class ShellLine {
  element;
  #database;
  #id = null;
  #code = element("code", { id: "shell-line", tabindex: "0" });

  constructor(database) {
    this.#database = database;
    const copy = button("Copy", () => this.#copy(copy), { class: "small" });
    this.element = element("div", { class: "shell-line", hidden: true },
      element("span", { class: "hint" }, "The page shows what any program writes. Try this in a shell:"), this.#code,
      copy);
  }

  /** Takes the shown users; the line keeps its user as long as it is among them. */
  show(ids) {
    // The server does not tell it to people who may read a part of the users.
    this.element.hidden = ids.length === 0 || this.#database === null;
    if (this.#database === null) return;
    if (ids.length === 0 || ids.includes(this.#id)) return;
    this.#id = ids[0];
    setText(this.#code, plainText(this.#line, 2_000));
  }

  get #line() {
    return shellLine(this.#database, { id: this.#id });
  }

  async #copy(copy) {
    try {
      await navigator.clipboard.writeText(this.#line);
      copy.textContent = "Copied";
    } catch {
      // Without permission to write to the clipboard, at least select the line.
      getSelection().selectAllChildren(this.#code);
      copy.textContent = "Selected";
    }
    setTimeout(() => { copy.textContent = "Copy"; }, 2_000);
  }
}
