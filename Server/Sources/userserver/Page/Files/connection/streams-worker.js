/** The SharedWorker with the event streams of all windows of this browser. */
import { Hub } from "./hub.js";

const hub = new Hub();

self.addEventListener("connect", ({ ports: [port] }) => {
  const window = hub.attach((message) => port.postMessage(message));
  port.addEventListener("message", ({ data: message }) => {
    // A window holds a lock as long as it lives. A crashed window cannot say bye, but its lock is free.
    if (message.type === "lock") self.navigator.locks.request(message.name, () => hub.detach(window));
    else hub.handle(window, message);
  });
  port.start();
});
