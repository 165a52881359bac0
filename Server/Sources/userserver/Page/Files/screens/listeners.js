/**
 * Named listeners, as in the library: a name belongs to its topic, and binding it again replaces the listener.
 *
 * Listeners without a name are there for comparison: nothing shows that two of them belong to the same screen.
 */
export class Listeners {
  #named = new Map();
  #unnamed = new Set();

  bind(name, topic, call) {
    this.#named.set(`${topic}/${name}`, { topic, call });
  }

  /** Calls a function with the current value, and then with each new one. */
  bindAndFire(name, topic, value, call) {
    this.bind(name, topic, call);
    call(value);
  }

  /** Adds a listener without a name; returns a function that removes it. */
  add(topic, call) {
    const listener = { topic, call };
    this.#unnamed.add(listener);
    return () => this.#unnamed.delete(listener);
  }

  /** Passes a value to a topic's listeners, except those added meanwhile. */
  notify(topic, value) {
    for (const listener of [...this.#named.values(), ...this.#unnamed]) {
      if (listener.topic === topic) listener.call(value);
    }
  }

  get count() {
    return this.#named.size + this.#unnamed.size;
  }
}
