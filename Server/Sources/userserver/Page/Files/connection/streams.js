/** A window's access to the event streams, in the SharedWorker or, without one, in the page itself. */
import { Hub } from "./hub.js";

/** Increase the number when the messages of hub.js change: a worker of an older page may still run. */
const workerName = "streams-1";
/** The time for which a hidden page without a SharedWorker keeps its streams. */
const hiddenTime = 30_000;
/**
 * The time to wait for a worker that neither answers nor fails. With 20 busy programs on two cores, one took more
 * than three seconds.
 */
const welcomeTime = 10_000;

export class Streams {
  /** The number of windows that share the streams; null if this window has its own. */
  windows = null;
  #subscribers = new Map();
  #statuses = new Map();
  #send = null;
  #token;
  #onChange;

  /** token: see token.js. onChange is called after a change of a status or of the number of windows. */
  constructor(token, onChange) {
    this.#token = token;
    this.#onChange = onChange;
  }

  /** Connects; returns when this window has the token of the other windows, if any. */
  async start() {
    await this.#connect();
    this.#token.changes.add((token, isOwn) => isOwn && this.#send({ type: "token", token }));
    addEventListener("pagehide", () => this.#send({ type: "bye" }));
    // The browser may keep a page that was left, and show it again with its typed text.
    addEventListener("pageshow", ({ persisted }) => persisted && this.#reconnect());
  }

  async #connect() {
    const handle = (message) => this.#handle(message);
    this.#send = (await connectToWorker(handle, this.#token.value)) ?? connectToOwnHub(handle, this.#token.value);
  }

  async #reconnect() {
    await this.#connect();
    for (const [channel, subscriber] of this.#subscribers) {
      subscriber.behind?.();
      this.#send({ type: "subscribe", channel });
    }
  }

  /**
   * Subscribes to a channel, the path of a stream; returns a function that ends the subscription.
   *
   * The subscriber has `events(events, received)`, where `received` is null for past events, and optionally
   * `status(status)` and `behind()`.
   */
  subscribe(channel, subscriber) {
    if (this.#subscribers.has(channel)) throw new Error(`${channel} is subscribed to already`);
    this.#subscribers.set(channel, subscriber);
    this.#send({ type: "subscribe", channel });
    return () => {
      if (this.#subscribers.get(channel) !== subscriber) return;
      this.#subscribers.delete(channel);
      this.#statuses.delete(channel);
      this.#send({ type: "unsubscribe", channel });
      this.#onChange();
    };
  }

  /** Opens a stream again, from its start if it is a list. */
  reload(channel) {
    this.#send({ type: "reload", channel });
  }

  /** The worst status among this window's channels. */
  get status() {
    const order = ["unauthorized", "lost", "connecting", "live"];
    const statuses = [...this.#statuses.values()].filter(({ state }) => state !== "refused");
    statuses.sort((a, b) => order.indexOf(a.state) - order.indexOf(b.state));
    return statuses[0] ?? { state: "connecting" };
  }

  #handle(message) {
    const subscriber = this.#subscribers.get(message.channel);
    switch (message.type) {
      case "welcome":
      case "token":
        if (message.token) this.#token.adopt(message.token);
        break;
      case "windows":
        this.windows = message.windows;
        break;
      case "status":
        if (!subscriber) return;
        this.#statuses.set(message.channel, message.status);
        subscriber.status?.(message.status);
        break;
      case "behind":
        subscriber?.behind?.();
        return;
      case "events":
        subscriber?.events(message.events, message.received);
        this.#send({ type: "received", channel: message.channel, length: message.length });
        return;
    }
    this.#onChange();
  }
}

/** Returns a function that sends messages to the worker's hub, or null without a worker. */
function connectToWorker(handle, token) {
  if (typeof SharedWorker === "undefined") return null;
  return new Promise((resolve) => {
    try {
      const worker = new SharedWorker(workerURL(), { type: "module", name: workerName });
      const { port } = worker;
      const send = (message) => port.postMessage(message);
      const giveUp = () => {
        send({ type: "bye" });
        port.close();
        resolve(null);
      };
      const timer = setTimeout(giveUp, welcomeTime);
      worker.addEventListener("error", giveUp);
      port.addEventListener("message", ({ data: message }) => {
        handle(message);
        if (message.type !== "welcome") return;
        clearTimeout(timer);
        resolve(send);
      });
      port.start();
      send({ type: "hello", token });
      holdLock(send);
    } catch {
      resolve(null);
    }
  });
}

/** Holds a lock for the life of this window, by whose name the worker notices a crash. */
function holdLock(send) {
  if (!navigator.locks) return;
  const name = `window-${crypto.randomUUID()}`;
  navigator.locks.request(name, () => {
    send({ type: "lock", name });
    return new Promise(() => {});
  });
}

/** Returns a function that sends messages to a hub for this window alone. */
function connectToOwnHub(handle, token) {
  const hub = new Hub();
  const window = hub.attach((message) => {
    if (message.type !== "windows") queueMicrotask(() => handle(message));
  });
  const send = (message) => hub.handle(window, message);
  send({ type: "hello", token });
  let timer = null;
  document.addEventListener("visibilitychange", () => {
    clearTimeout(timer);
    if (document.hidden) timer = setTimeout(() => hub.suspend(), hiddenTime);
    else hub.resume();
  });
  return send;
}

/** The page's policy forbids text as a script's address; this policy allows exactly one. */
function workerURL() {
  const path = "/connection/streams-worker.js";
  if (!globalThis.trustedTypes) return path;
  return trustedTypes.createPolicy("streams-worker", { createScriptURL: () => path }).createScriptURL("");
}
