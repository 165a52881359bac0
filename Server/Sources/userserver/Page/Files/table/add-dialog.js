/** Asks for a new user's values, which stay until the user is added. */
import { colorList } from "../editing/colors.js";
import { openForm } from "../shared/dialog.js";
import { element } from "../shared/dom.js";
import { problemText } from "../shared/notices.js";
import { textValue } from "../shared/values.js";

/** Returns the added user as {user, revision}, or null. */
export async function askForUser({ writes, announcer }) {
  const common = { type: "text", autocomplete: "off", spellcheck: "false" };
  const field = (attributes) => element("input", { ...common, ...attributes });
  const name = field({ name: "name", required: true });
  const color = field({ name: "hair_color", placeholder: "#a52a2a or auburn", list: colorList() });
  let added = null;
  const dialog = openForm("Add a user", {
    className: "add-dialog", label: "Add user", busyLabel: "Adding…", announcer,
    fields: [
      element("label", {}, "Name", name),
      element("label", {}, "Hair color", element("span", { class: "optional" }, "optional"), color),
    ],
    note: element("p", { class: "hint" }, "Further attributes are added when you open the user."),
  }, async () => {
    const values = new Map([["name", textValue(name.value)]]);
    if (color.value.trim() !== "") values.set("hair_color", textValue(color.value.trim()));
    try {
      added = await writes.add(values);
      return null;
    } catch (error) {
      return { problem: problemText(error), canRetry: error.canRetry };
    }
  });
  await dialog.closed;
  return added;
}
