/** A followed list: its stream, its rows, and whether they equal the server's. */
import { readProblem } from "../connection/api.js";
import { ListModel } from "./list-model.js";

/** The shortest time between two reloads of a list that differs. */
const reloadInterval = 10_000;

export class ListSession {
  model = new ListModel();
  /** The Problem with which the server refuses the list; null if it does not. */
  refusal = null;
  isPolled = false;
  #streams;
  #channel;
  #listener;
  #unsubscribe;
  #lastReload = -Infinity;

  /** listener: changed(result) after each event, with the result of ListModel.apply; differed(revision); refused(). */
  constructor(streams, query, listener) {
    this.#streams = streams;
    this.#channel = `/lists${query === "" ? "" : `?${query}`}`;
    this.#listener = listener;
    this.#unsubscribe = streams.subscribe(this.#channel, {
      events: (events) => this.#take(events),
      status: (status) => this.#takeStatus(status),
      behind: () => {},
    });
  }

  close() {
    this.#unsubscribe();
  }

  #take(events) {
    for (const event of events) {
      let result;
      try {
        result = this.model.apply(event);
      } catch (error) {
        // Steps that do not fit the rows also count as a difference.
        reportError(error);
        result = { isVerified: false };
      }
      if (result.isVerified === false) this.#reload();
      this.#listener.changed(result);
    }
  }

  #reload() {
    const now = performance.now();
    if (now - this.#lastReload < reloadInterval) return;
    this.#lastReload = now;
    this.#listener.differed(this.model.revision);
    this.#streams.reload(this.#channel);
  }

  #takeStatus(status) {
    this.isPolled = status.isPolled === true;
    if (status.state !== "refused") return;
    this.refusal = readProblem(400, status.problem ?? "");
    this.#listener.refused();
  }
}
