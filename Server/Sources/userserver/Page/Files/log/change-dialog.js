/** A change in full: its writer, the user before and after, and a button that undoes the write. */
import { openDialog } from "../shared/dialog.js";
import { button, counted, element, inDigits } from "../shared/dom.js";
import { plainText, visibleText } from "../shared/characters.js";
import { operations, originOf } from "./log-row.js";
import { changesOfSet, pastUser } from "./past.js";
import { fullValue } from "../shared/value-view.js";
import { kindInWords, sameValue, unset } from "../shared/values.js";

export class ChangeDialog {
  #app;
  #row;

  constructor(app, row) {
    this.#app = app;
    this.#row = row;
  }

  show() {
    const { set, user } = this.#row;
    const dialog = openDialog(`Revision ${inDigits(set.revision)}`, { className: "change-dialog" });
    const table = element("div", { class: "before-after" }, hint("Reading the user as it was…"));
    dialog.body.append(this.#facts(), this.#undo(dialog));
    if (this.#row.op === "event") {
      dialog.body.append(element("h3", {}, "Payload"), element("div", { class: "payload" }, fullValue(this.#row.new)));
      return;
    }
    dialog.body.append(element("h3", {}, `User ${user}, before and after`), table);
    this.#fill(table);
  }

  #facts() {
    const { set, op, user, attribute, event } = this.#row;
    const facts = [
      op === "event" ? ["Event", `${plainText(event)}${user && ` about user ${user}`}`]
        : ["Change", `${operations[op] ?? op}: ${plainText(attribute)} of user ${user}`],
      ["Written by", element("bdi", {}, visibleText(originOf(set) || "unknown"))],
      ["At", set.at],
      ["Set", `${counted(set.length, "change")}${partInWords(set)}`],
    ];
    return element("dl", { class: "facts" }, facts.map(([term, fact]) =>
      element("div", {}, element("dt", {}, term), element("dd", {}, fact))));
  }

  #undo(dialog) {
    const { set } = this.#row;
    if (this.#app.about.isReadOnly) return hint("This server is read-only.");
    if (set.isForeign) {
      return hint("Another program wrote this. Where its write ends is not known, so it cannot be undone.");
    }
    if (set.purgedUsers.size > 0) {
      return element("div", {}, button("Undo this write", () => {}, { id: "undo-this", disabled: true }),
        hint("The values of this write were purged, so it cannot be undone."));
    }
    return button("Undo this write", async () => {
      dialog.close();
      await this.#app.writes.undo(set.revision);
    }, { id: "undo-this" });
  }

  async #fill(table) {
    try {
      if (!this.#row.set.cursor) throw new Error("The end of this set has not come yet.");
      const { set, user } = this.#row;
      const changes = this.#app.feed.log.changesOf(set, user) ?? await changesOfSet(this.#app.api, set, user);
      const { before, after } = await pastUser(this.#app.api, this.#row, changes);
      table.replaceChildren(this.#comparison(before, after));
    } catch (error) {
      table.replaceChildren(hint(`The whole user cannot be shown: ${error.message}`), this.#comparisonOfChange());
    }
  }

  /** Only the values of this change, for a user that cannot be read. */
  #comparisonOfChange() {
    const { attribute } = this.#row;
    return comparison([[attribute, this.#row.old, this.#row.new]]);
  }

  #comparison(before, after) {
    const names = new Set([...(before?.values.keys() ?? []), ...(after?.values.keys() ?? [])]);
    for (const first of ["name", "hair_color"]) names.delete(first);
    const ordered = ["name", "hair_color", ...[...names].sort()];
    return comparison(ordered.map((name) => [name, before?.value(name) ?? unset, after?.value(name) ?? unset]));
  }
}

/** A table of attributes with their values before and after; a word also marks those that differ. */
function comparison(rows) {
  const last = element("span", { class: "visually-hidden" }, "difference");
  const titles = ["attribute", "before", "after", last].map((title) => element("th", { scope: "col" }, title));
  return element("div", { class: "table-scroll" }, element("table", { class: "comparison" },
    element("thead", {}, element("tr", {}, titles)),
    element("tbody", {}, rows.map(([name, before, after]) => {
      const isChanged = !sameValue(before, after);
      return element("tr", { class: isChanged ? "changed" : "", data: { attribute: name } },
        element("th", { scope: "row" }, element("bdi", {}, visibleText(name))),
        element("td", {}, fullValue(before)), element("td", {}, fullValue(after)),
        element("td", { class: "kind" }, isChanged ? difference(before, after) : ""));
    }))));
}

function partInWords({ isCut, isFiltered }) {
  if (isFiltered) return ", without those that the filter hides";
  return isCut ? ", of which earlier ones are not shown" : "";
}

const hint = (text) => element("p", { class: "hint" }, text);

function difference(before, after) {
  if ([before, after].some(({ kind }) => kind === "purged")) return "";
  if (before.kind === "unset") return "set";
  if (after.kind === "unset") return "unset";
  return before.kind === after.kind ? "changed" : `now ${kindInWords(after)}`;
}
