/** Modal dialogs, which are removed from the page when they close. */
import { button, element, uniqueID } from "./dom.js";

/** title: text or nodes. Returns {element, body, close, closed}; `closed` resolves after the dialog has closed. */
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
    // The next dialog may already have them.
    if (dialog.contains(announcements)) document.body.append(announcements);
    dialog.remove();
    resolve();
  }));
  // Earlier announcements are not about this dialog.
  announcements.textContent = "";
  // A click beside the dialog does not close it, because it may contain typed text.
  dialog.append(announcements);
  document.body.append(dialog);
  dialog.showModal();
  return { element: dialog, body, close: () => dialog.close(), closed };
}

/**
 * Opens a dialog with a form; returns the same as openDialog.
 *
 * Submitting calls send(), which returns null on success, and the dialog closes; otherwise it returns {problem,
 * canRetry}: the reason, and whether the same may succeed later.
 */
export function openForm(title, { className, label, busyLabel, fields, note, announcer }, send) {
  const dialog = openDialog(title, { className });
  const problem = element("p", { class: "form-problem" });
  const submit = element("button", { type: "submit", class: "primary" }, label);
  const submitted = async (event) => {
    event.preventDefault();
    problem.textContent = "";
    submit.disabled = true;
    submit.textContent = busyLabel;
    const refusal = await send();
    submit.disabled = false;
    submit.textContent = refusal?.canRetry ? "Try again" : label;
    if (!refusal) return dialog.close();
    problem.textContent = refusal.problem;
    announcer.announce(refusal.problem, "form");
  };
  dialog.body.append(element("form", { class: "form", on: { submit: submitted } }, fields, problem, note,
    element("div", { class: "form-buttons" }, submit, button("Cancel", () => dialog.close(), { class: "quiet" }))));
  dialog.body.querySelector("input").focus();
  return dialog;
}
