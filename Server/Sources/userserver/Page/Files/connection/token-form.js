/** Asks for the token when the server requires one, without changing the page behind. */
import { openDialog } from "../shared/dialog.js";
import { element } from "../shared/dom.js";

export class TokenForm {
  #token;
  #dialog = null;
  #refused = undefined;
  /** The last token that a person typed. */
  #typed = null;
  #button;
  #announcer;
  #reason = element("p", { class: "form-problem", id: "token-problem" });

  constructor(token, announcer) {
    this.#token = token;
    this.#announcer = announcer;
    this.#button = document.getElementById("enter-token");
    this.#button.addEventListener("click", () => this.#show());
    document.addEventListener("token-needed", () => this.#show());
    token.changes.add(() => {
      this.#button.hidden = true;
      this.#close();
    });
  }

  /** Asks after the server has refused a token: once for each, unless the window already has another one. */
  askOnce(refused) {
    if (refused !== this.#token.value || refused === this.#refused) return;
    this.#refused = refused;
    this.#show();
  }

  #reasonInWords() {
    const { value, wasAccepted } = this.#token;
    if (value === null) return "";
    if (wasAccepted) {
      return "The server no longer accepts the token of this page. It was probably started again, and has another one.";
    }
    return value === this.#typed
      ? "This token is wrong."
      : "The token of this page is wrong, or is of an earlier start of the server.";
  }

  #show() {
    // A closed form can be opened again with the button.
    this.#button.hidden = false;
    this.#reason.textContent = this.#reasonInWords();
    if (this.#reason.textContent) this.#announcer.announce(this.#reason.textContent, "token");
    if (this.#dialog) return;
    const dialog = openDialog("Token", { className: "token-dialog" });
    this.#dialog = dialog;
    const field = element("input", {
      type: "password", id: "token", required: true, autocomplete: "off", "aria-describedby": this.#reason.id,
    });
    dialog.body.append(element("form", { class: "form", on: {
      submit: (event) => {
        event.preventDefault();
        const text = field.value.trim();
        if (text === "") return;
        this.#close();
        // The pasted text may be the whole address that the server printed.
        this.#typed = text.replace(/^.*#token=/, "");
        this.#token.set(this.#typed);
      },
    } },
    this.#reason,
    element("p", {}, "The server asks for its token. It printed the address with the token when it started:"),
    element("code", {}, `${location.origin}/#token=…`),
    element("label", {}, "Token, or the whole address", field),
    element("div", { class: "form-buttons" },
      element("button", { type: "submit", class: "primary" }, "Use this token"))));
    field.focus();
    dialog.closed.then(() => { if (this.#dialog === dialog) this.#dialog = null; });
  }

  /** The browser reports a closed dialog only with its next frame; the token may be refused before that. */
  #close() {
    this.#dialog?.close();
    this.#dialog = null;
  }
}
