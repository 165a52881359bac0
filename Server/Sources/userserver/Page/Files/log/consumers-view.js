/** The store's consumers, with their positions in the log and the number of changes after them. */
import { counted, element, inDigits, setText } from "../shared/dom.js";
import { integer } from "../shared/json.js";
import { PauseButton } from "../shared/pause-button.js";
import { plainText } from "../shared/characters.js";

const interval = 2_000;

export class ConsumersView {
  element;
  #app;
  #body = element("tbody");
  #note = element("p", { class: "empty" }, "Reading…");
  #table;
  #pause = new PauseButton("pause-consumers", () => { this.#pause.isPaused = !this.#pause.isPaused; });
  #timer = null;

  constructor(app) {
    this.#app = app;
    const titles = ["Consumer", "Revision", "Lag", "At"].map((title) => element("th", { scope: "col" }, title));
    this.#table = element("table", { class: "plain", hidden: true },
      element("thead", {}, element("tr", {}, titles)), this.#body);
    this.element = element("section", { class: "card consumers-card", "aria-labelledby": "consumers-title" },
      element("div", { class: "card-head" }, element("h2", { id: "consumers-title" }, "Consumers"),
        element("span", { class: "spacer" }), this.#pause.element),
      element("div", { class: "table-scroll" }, this.#table), this.#note);
    this.#read();
  }

  close() {
    clearTimeout(this.#timer);
    this.#timer = null;
    this.#app = null;
  }

  async #read() {
    if (!document.hidden && !this.#pause.isPaused) {
      try {
        const { json } = await this.#app.api.get("/consumers");
        this.#show(json.get("consumers"));
      } catch (error) {
        setText(this.#note, error.message);
        this.#note.hidden = false;
      }
    }
    // The view may have been closed meanwhile.
    if (this.#app) this.#timer = setTimeout(() => this.#read(), interval);
  }

  #show(consumers) {
    this.#table.hidden = consumers.length === 0;
    this.#note.hidden = consumers.length > 0;
    setText(this.#note, "No program reads the log as a named consumer.");
    this.#body.replaceChildren(...consumers.map((consumer) => {
      const lag = consumer.get("lag") === null ? null : integer(consumer.get("lag"));
      return element("tr", { data: { consumer: consumer.get("name") } },
        element("th", { scope: "row" }, element("bdi", {}, plainText(consumer.get("name"), 100))),
        element("td", { class: "number" }, inDigits(integer(consumer.get("revision")))),
        element("td", {}, lagInWords(lag)),
        element("td", {}, timeText(consumer.get("at"))));
    }));
  }
}

function lagInWords(lag) {
  if (lag === null) return "the log is gone";
  return lag === 0 ? "up to date" : counted(lag, "change");
}

function timeText(at) {
  const date = new Date(at ?? NaN);
  if (Number.isNaN(date.getTime())) return "";
  const isToday = date.toDateString() === new Date().toDateString();
  return isToday ? date.toLocaleTimeString("en-GB") : date.toLocaleDateString("en-GB");
}
