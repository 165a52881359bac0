/** The store's changes for all views of this window: one stream, read once. */
import { LogModel, firstRows } from "../log/log-model.js";
import { PulseModel } from "../pulse/pulse-model.js";
import { Observers } from "../shared/observers.js";

const channel = `/changes?last=${firstRows}`;

export class Feed {
  log = new LogModel();
  pulse = new PulseModel();
  /** Called with the changes of each set, or of a part of a large one. */
  changes = new Observers();
  /** Called after each batch of events. */
  updates = new Observers();
  #isCurrent = false;

  start(streams) {
    streams.subscribe(channel, {
      events: (events, received) => this.#take(events, received),
      behind: () => this.log.catchUp(),
    });
  }

  #take(events, received) {
    for (const event of events) {
      const changes = this.log.apply(event).filter(({ op }) => op !== "event");
      // Past changes do not count in the current figures.
      if (event.event === "opened") this.#isCurrent = false;
      if (event.event === "progress" && received !== null) this.#isCurrent = true;
      if (changes.length === 0) continue;
      if (this.#isCurrent) this.pulse.count(changes.length, changes[0].set.lag);
      this.changes.call(changes);
    }
    // A replay ends at the current end of the stream.
    if (received === null) this.#isCurrent = true;
    this.updates.call();
  }
}
