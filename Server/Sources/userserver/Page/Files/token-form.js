/** Asks for the token when the server wants one. The page behind it stays as it is. */
import { openDialog } from "./dialog.js";
import { element } from "./dom.js";

export class TokenForm {
  #token;
  #dialog = null;
  #refused = undefined;
  #button;

  constructor(token) {
    this.#token = token;
    this.#button = document.getElementById("enter-token");
    this.#button.addEventListener("click", () => this.#show());
    document.addEventListener("token-needed", () => this.#show());
    token.onChange(() => {
      this.#button.hidden = true;
      this.#dialog?.close();
    });
  }

  /** Asks unless the form was already closed for the present token. */
  askOnce() {
    if (this.#refused === this.#token.value) return;
    this.#refused = this.#token.value;
    this.#show();
  }

  #show() {
    // Who closes the form can open it again.
    this.#button.hidden = false;
    if (this.#dialog) return;
    this.#dialog = openDialog("Token", { className: "token-dialog" });
    const field = element("input", { type: "password", id: "token", required: true, autocomplete: "off" });
    this.#dialog.body.append(element("form", { class: "form", on: {
      submit: (event) => {
        event.preventDefault();
        const text = field.value.trim();
        if (text === "") return;
        this.#dialog.close();
        // The whole address that the server printed may be pasted, too.
        this.#token.set(text.replace(/^.*#token=/, ""));
      },
    } },
    element("p", {}, "The server asks for its token. It printed the address with the token when it started:"),
    element("code", {}, `${location.origin}/#token=…`),
    element("label", {}, "Token, or the whole address", field),
    element("div", { class: "form-buttons" },
      element("button", { type: "submit", class: "primary" }, "Use this token"))));
    field.focus();
    this.#dialog.closed.then(() => { this.#dialog = null; });
  }
}
