/** A row of the log: a change, an event, or a note. */
import { visibleText } from "../shared/characters.js";
import { element } from "../shared/dom.js";
import { shortValue } from "../shared/value-view.js";
import { purged } from "../shared/values.js";

export const operations = { insert: "added", update: "changed", delete: "removed", event: "event" };

/** Makes a row's element; open(row) shows the change in full. */
export function logRow(row, open) {
  if (row.note) return element("li", { class: "log-note" }, row.note);
  const { set } = row;
  const item = element("li", {
    class: `log-row op-${row.op}${row.isFirst ? " first-of-set" : ""}`, tabindex: "-1",
    data: { revision: set.revision, user: row.user },
  });
  item.append(
    element("span", { class: "log-revision" }, row.isFirst ? String(set.revision) : ""),
    element("span", { class: "log-time" }, row.isFirst ? timeOf(set.at) : ""),
    element("span", { class: "log-op" }, operations[row.op] ?? row.op),
    element("span", { class: "log-user" }, row.user),
    element("bdi", { class: "log-attribute" }, visibleText((row.event ?? row.attribute).slice(0, 60))),
    element("span", { class: "log-values" }, valuesOf(row)),
    element("span", { class: "log-origin" }, row.isFirst ? originOf(set) : ""));
  item.row = row;
  item.open = () => open(row);
  return item;
}

function valuesOf(row) {
  if (row.isPurged) return [shortValue(purged)];
  if (row.op === "event") return row.new.kind === "unset" ? [] : [shortValue(row.new)];
  if (row.op === "insert") return [shortValue(row.new)];
  if (row.op === "delete") return [element("del", {}, shortValue(row.old))];
  const arrow = element("span", { class: "log-arrow" }, element("span", { "aria-hidden": "true" }, "→"),
    element("span", { class: "visually-hidden" }, "became"));
  return [shortValue(row.old), arrow, shortValue(row.new)];
}

/** The writer of a set. */
export function originOf(set) {
  return set.isForeign ? "another program" : set.origin ?? "";
}

const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });

function timeOf(at) {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? "" : clock.format(date);
}
