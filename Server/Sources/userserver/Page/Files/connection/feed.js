/** The changes of the store, as all views of this window use them: one stream, read once. */
import { LogModel, firstRows } from "../log/log-model.js";
import { PulseModel } from "../pulse/pulse-model.js";

const channel = `/changes?last=${firstRows}`;

export class Feed {
  log = new LogModel();
  pulse = new PulseModel();
  #listeners = new Set();
  #viewers = new Set();
  #isCurrent = false;

  start(streams) {
    streams.subscribe(channel, {
      events: (events, received) => this.#take(events, received),
      behind: () => this.log.catchUp(),
    });
  }

  /** Calls a function with the changes of each set, or of a part of a large one. */
  onChanges(listener) {
    this.#listeners.add(listener);
  }

  offChanges(listener) {
    this.#listeners.delete(listener);
  }

  /** Calls a function after each batch of events. */
  onUpdate(viewer) {
    this.#viewers.add(viewer);
  }

  offUpdate(viewer) {
    this.#viewers.delete(viewer);
  }

  #take(events, received) {
    for (const event of events) {
      const changes = this.log.apply(event);
      // Changes of the past count for no figure of the present.
      if (event.event === "opened") this.#isCurrent = false;
      if (event.event === "progress" && received !== null) this.#isCurrent = true;
      if (changes.length === 0) continue;
      if (this.#isCurrent) this.pulse.count(changes.length, changes[0].set.lag);
      for (const listener of this.#listeners) listener(changes);
    }
    // A replay ends where the stream is now.
    if (received === null) this.#isCurrent = true;
    for (const viewer of this.#viewers) viewer();
  }
}
