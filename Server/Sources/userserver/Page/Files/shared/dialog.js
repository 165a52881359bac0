/** Modal dialogs, which are removed from the page when they close. */
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

/**
 * Opens a dialog with a form; returns the same.
 *
 * send() is called when the form is submitted. It returns null if that was done, and the dialog closes, or else
 * {problem, canRetry}: why it was not, and whether the same may succeed later.
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
