/**
 * Named listeners, as the library has them: a name belongs to its topic, and binding it again replaces the listener.
 *
 * Listeners without a name are there to compare: nothing shows that two of them belong to the same screen.
 */
export class Listeners {
  #named = new Map();
  #unnamed = new Set();

  /** Calls a function from the next value of the topic on. */
  bind(name, topic, call) {
    this.#named.set(`${topic}/${name}`, { topic, call });
  }

  /** Calls a function with the present value, and from the next value on. */
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

  /** Passes a value to the listeners of a topic; a listener that is added meanwhile is not called in this round. */
  notify(topic, value) {
    for (const listener of [...this.#named.values(), ...this.#unnamed]) {
      if (listener.topic === topic) listener.call(value);
    }
  }

  get count() {
    return this.#named.size + this.#unnamed.size;
  }
}
