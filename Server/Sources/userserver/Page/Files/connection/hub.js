/**
 * The event streams of a browser, shared by its windows.
 *
 * Runs in a SharedWorker, or, where there is none, in a page for itself. A window sends messages {type, …} to
 * `handle`, and receives messages through its `post`:
 *
 *   hello {token}           welcome {token, windows}
 *   subscribe {channel}     status {channel, status}, events {channel, events, received}
 *   unsubscribe {channel}   behind {channel}: events were left out; a replay follows
 *   reload {channel}        windows {windows}
 *   token {token}           token {token}
 *   received {channel, length}
 *   bye
 */
import { Connection } from "./connection.js";
import { LogJournal, ListJournal } from "./journals.js";
import { PolledList } from "./polled-list.js";

/** With the log's, four streams; a browser's other two connections remain for pages and edits. */
const listStreams = 3;
/** The time for which a stream without subscribers is kept, because the next view may want it. */
const lingering = 2_000;
/** The largest length of unprocessed events of a window. */
const lengthAhead = 64 << 20;

export class Hub {
  #windows = new Set();
  #channels = new Map();
  #token = null;

  /** Adds a window; returns the object to pass to `handle` and `detach`. */
  attach(post) {
    const window = { post, subscriptions: new Map() };
    this.#windows.add(window);
    return window;
  }

  detach(window) {
    if (!this.#windows.delete(window)) return;
    // At once: without windows, the browser may suspend a worker and its timers while the streams are open.
    for (const path of [...window.subscriptions.keys()]) this.#unsubscribe(window, path, { lingers: false });
    this.#sayWindows();
  }

  handle(window, message) {
    switch (message.type) {
      case "hello":
        if (message.token) this.#setToken(message.token, window);
        window.post({ type: "welcome", token: this.#token, windows: this.#windows.size });
        this.#sayWindows();
        break;
      case "token": this.#setToken(message.token, window); break;
      case "subscribe": this.#subscribe(window, message.channel); break;
      case "unsubscribe": this.#unsubscribe(window, message.channel, { lingers: true }); break;
      case "reload": this.#channels.get(message.channel)?.source.restart(); break;
      case "received": this.#received(window, message); break;
      case "bye": this.detach(window); break;
    }
  }

  /** Closes all streams while a page without a SharedWorker is hidden. */
  suspend() {
    for (const channel of this.#channels.values()) channel.source.stop();
  }

  resume() {
    for (const channel of this.#channels.values()) channel.source.start();
  }

  #sayWindows() {
    for (const window of this.#windows) window.post({ type: "windows", windows: this.#windows.size });
  }

  /** A new token is for all windows: the server has one token, and makes a new one at each start. */
  #setToken(token, from) {
    if (token === this.#token) return;
    this.#token = token;
    for (const window of this.#windows) {
      if (window !== from) window.post({ type: "token", token });
    }
    for (const channel of this.#channels.values()) {
      if (channel.status.state !== "live") channel.source.restart();
    }
  }

  // MARK: Channels

  #subscribe(window, path) {
    const channel = this.#channels.get(path) ?? this.#open(path);
    clearTimeout(channel.closing);
    window.subscriptions.set(path, { length: 0, isBehind: false });
    channel.windows.add(window);
    window.post({ type: "status", channel: path, status: channel.status });
    this.#replay(window, channel);
  }

  #unsubscribe(window, path, { lingers }) {
    const channel = this.#channels.get(path);
    window.subscriptions.delete(path);
    if (!channel?.windows.delete(window) || channel.windows.size > 0) return;
    const close = () => {
      this.#close(channel);
      this.#promotePolled();
    };
    if (lingers) channel.closing = setTimeout(close, lingering);
    else close();
  }

  #close(channel) {
    clearTimeout(channel.closing);
    channel.source.stop();
    this.#channels.delete(channel.path);
  }

  #open(path) {
    const isList = path.startsWith("/lists");
    const channel = {
      path,
      isList,
      isPolled: isList && !this.#hasRoomForList(),
      windows: new Set(),
      journal: isList ? new ListJournal() : new LogJournal(),
      status: { state: "connecting" },
      closing: null,
    };
    this.#channels.set(path, channel);
    this.#startSource(channel);
    return channel;
  }

  #startSource(channel) {
    const report = {
      status: (status) => this.#report(channel, status),
      events: (events) => this.#deliver(channel, events),
    };
    channel.source = channel.isPolled
      ? new PolledList(channel.path.replace("/lists", "/users"), () => this.#token, report)
      : new Connection(channel.path, () => this.#token, report);
    channel.source.start();
  }

  /** Whether a list can have a stream, if necessary in place of one without subscribers. */
  #hasRoomForList() {
    const streams = [...this.#channels.values()].filter(({ isList, isPolled }) => isList && !isPolled);
    const lingering = streams.filter(({ windows }) => windows.size === 0);
    if (streams.length < listStreams) return true;
    if (lingering.length === 0) return false;
    this.#close(lingering[0]);
    return true;
  }

  /** Gives the place of a closed stream to a polled list. */
  #promotePolled() {
    const channel = [...this.#channels.values()].find(({ isPolled, windows }) => isPolled && windows.size > 0);
    if (!channel || !this.#hasRoomForList()) return;
    channel.source.stop();
    channel.isPolled = false;
    this.#startSource(channel);
  }

  #report(channel, status) {
    channel.status = status;
    for (const window of channel.windows) window.post({ type: "status", channel: channel.path, status });
  }

  #deliver(channel, events) {
    channel.journal.add(events);
    const length = lengthOf(events);
    const received = performance.timeOrigin + performance.now();
    for (const window of channel.windows) {
      const subscription = window.subscriptions.get(channel.path);
      if (subscription.isBehind) continue;
      if (subscription.length > lengthAhead) {
        subscription.isBehind = true;
        continue;
      }
      subscription.length += length;
      window.post({ type: "events", channel: channel.path, events, length, received });
    }
    if (!channel.isList && events.some(({ event }) => event === "changes" || event === "opened")) this.#wakePolled();
  }

  #wakePolled() {
    for (const channel of this.#channels.values()) if (channel.isPolled) channel.source.changed();
  }

  /** Notes that a window has processed events; if it was too far behind, brings it up to date. */
  #received(window, { channel: path, length }) {
    const subscription = window.subscriptions.get(path);
    if (!subscription) return;
    subscription.length -= length;
    if (!subscription.isBehind || subscription.length > 0) return;
    subscription.isBehind = false;
    window.post({ type: "behind", channel: path });
    this.#replay(window, this.#channels.get(path));
  }

  #replay(window, channel) {
    const events = channel.journal.replay();
    if (events.length === 0) return;
    const length = lengthOf(events);
    window.subscriptions.get(channel.path).length += length;
    window.post({ type: "events", channel: channel.path, events, length, received: null });
  }
}

const lengthOf = (events) => events.reduce((length, { data }) => length + data.length, 0);
