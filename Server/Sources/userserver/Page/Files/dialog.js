/** A modal dialog that is removed from the page when it closes. */
import { button, element, uniqueID } from "./dom.js";

/** title: text or nodes. Returns {element, body, close, closed}; `closed` resolves when the dialog has closed. */
export function openDialog(title, { className = "" } = {}) {
  const id = uniqueID("dialog-title");
  const body = element("div", { class: "dialog-body" });
  const dialog = element("dialog", { class: `dialog ${className}`, "aria-labelledby": id },
    element("div", { class: "dialog-head" }, element("h2", { id }, title),
      button("Close", () => dialog.close(), { class: "small quiet" })),
    body);
  // Outside of a modal dialog nothing is announced.
  const announcements = document.getElementById("announcements");
  const closed = new Promise((resolve) => dialog.addEventListener("close", () => {
    // Unless the next dialog has them already.
    if (dialog.contains(announcements)) document.body.append(announcements);
    dialog.remove();
    resolve();
  }));
  // What was said before is not about this dialog.
  announcements.textContent = "";
  // A click beside the dialog closes nothing: something may be typed in it.
  dialog.append(announcements);
  document.body.append(dialog);
  dialog.showModal();
  return { element: dialog, body, close: () => dialog.close(), closed };
}
