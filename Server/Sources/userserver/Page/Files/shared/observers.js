export class Observers {
  #all = new Set();

  add(observer) {
    this.#all.add(observer);
  }

  remove(observer) {
    this.#all.delete(observer);
  }

  call(...values) {
    for (const observer of this.#all) observer(...values);
  }
}
