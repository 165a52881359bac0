/** The names of hair colors that the store knows, for fields that suggest them. */
import { element } from "../shared/dom.js";

const names = [
  "aqua", "auburn", "black", "blond", "blonde", "blue", "brown", "chestnut", "fuchsia", "ginger", "gray", "green",
  "grey", "lime", "maroon", "navy", "olive", "orange", "pink", "purple", "red", "silver", "teal", "white", "yellow",
];

const id = "color-names";

/** Returns the id of the list of names, for a field's attribute `list`; makes the list once. */
export function colorList() {
  if (!document.getElementById(id)) {
    document.body.append(element("datalist", { id }, names.map((value) => element("option", { value }))));
  }
  return id;
}
