/** The line above every view: the connection's state, the revision, the time to the server, and the windows. */
import { counted, inDigits, setText } from "./shared/dom.js";
import { inNextFrame } from "./shared/frames.js";
import { inMilliseconds } from "./pulse/pulse-model.js";

const words = { live: "live", connecting: "connecting…", lost: "not connected", unauthorized: "a token is needed" };
const measuring = 10_000;
/** The first measurements are repeated early, because a starting page is slow. */
const firstMeasurements = [500, 1_500, 2_500, 3_500];

export class StateLine {
  revision = 0;
  #streams;
  #pulse;
  #announcer;
  #isReadOnly;
  #parts;
  #timer = null;
  #announced = "live";

  constructor({ streams, feed, announcer }, isReadOnly) {
    this.#streams = streams;
    this.#pulse = feed.pulse;
    this.#announcer = announcer;
    this.#isReadOnly = isReadOnly;
    const part = (name) => document.getElementById(name);
    this.#parts = {
      state: part("connection"), revision: part("revision"), rest: part("state-rest"), reason: part("state-reason"),
    };
    setInterval(() => document.hidden || this.#measure(), measuring);
    for (const delay of firstMeasurements) setTimeout(() => this.#measure(), delay);
  }

  update = () => inNextFrame(this.#render);

  reached(revision) {
    this.revision = revision;
    this.update();
  }

  async #measure() {
    await this.#pulse.measure();
    this.update();
  }

  #render = () => {
    const { status, windows } = this.#streams;
    // `unauthorized` also means no connection; the form explains the rest.
    document.documentElement.dataset.connection = status.state === "unauthorized" ? "lost" : status.state;
    setText(this.#parts.state, words[status.state]);
    if (this.revision > 0 || status.state === "live") {
      setText(this.#parts.revision, ` · revision ${inDigits(this.revision)}`);
    }
    this.#parts.revision.dataset.revision = this.revision;
    const rest = [];
    const time = this.#pulse.halfRoundTrip;
    if (status.state === "live" && time !== null) rest.push(inMilliseconds(time));
    if (windows !== null) rest.push(counted(windows, "window"));
    if (this.#isReadOnly) rest.push("read-only");
    setText(this.#parts.rest, rest.map((text) => ` · ${text}`).join(""));
    this.#showReason(status);
    this.#announce(status.state);
  };

  /** Shows why there is no connection, and when the next attempt is. */
  #showReason(status) {
    clearTimeout(this.#timer);
    let reason = "";
    if (status.state === "lost") {
      reason = status.detail ?? "";
      const seconds = Math.ceil(((status.retryAt ?? 0) - Date.now()) / 1_000);
      if (seconds > 0) {
        reason += ` · next attempt in ${seconds} s`;
        this.#timer = setTimeout(this.update, 1_000);
      } else {
        reason += " · connecting…";
      }
    }
    setText(this.#parts.reason, reason);
    document.documentElement.toggleAttribute("data-stale", status.state === "lost");
  }

  #announce(state) {
    if (state === this.#announced || state === "connecting") return;
    this.#announced = state;
    this.#announcer.announce(state === "live" ? "Connected again." : words[state], "connection");
  }
}
