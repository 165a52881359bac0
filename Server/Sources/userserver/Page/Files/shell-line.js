/** A line for a shell that changes a user from outside the page, so that anybody can see that the page shows it. */
import { plainText } from "./characters.js";
import { button, element } from "./dom.js";

/** The text as one word of a POSIX shell. */
export const shellQuoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

export function shellLine(path, { id = "1", name = "Zoë" } = {}) {
  // Names with other characters would need quotes of SQL inside those of the shell; this one does not.
  return `sqlite3 ${shellQuoted(path)} "UPDATE users SET name = '${name}' WHERE id = ${id}"`;
}

/** The line with a button that copies it. */
export function shellLineElement(path) {
  const line = shellLine(path);
  const code = element("code", { id: "shell-line", tabindex: "0" }, plainText(line, 2_000));
  const copy = button("Copy", async () => {
    try {
      await navigator.clipboard.writeText(line);
      copy.textContent = "Copied";
    } catch {
      // Without the right to write the clipboard, the line is at least selected.
      getSelection().selectAllChildren(code);
      copy.textContent = "Selected";
    }
    setTimeout(() => { copy.textContent = "Copy"; }, 2_000);
  }, { class: "small" });
  return element("div", { class: "shell-line" },
    element("span", { class: "hint" }, "The page shows what any program writes. Try this in a shell:"), code, copy);
}
