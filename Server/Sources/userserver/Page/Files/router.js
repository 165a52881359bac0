/** The address of the page: which view it shows, and the state of the view in the query. */
export class Router {
  #onChange;

  /** onChange is called with the path after a change of the address. */
  constructor(onChange) {
    this.#onChange = onChange;
    addEventListener("popstate", () => onChange(this.path));
    document.addEventListener("click", (event) => this.#follow(event));
  }

  get path() {
    return location.pathname;
  }

  get parameters() {
    return new URLSearchParams(location.search);
  }

  /** Sets parameters: text, an array of texts, or null to remove one. */
  set(changes, { replaces = false } = {}) {
    const parameters = this.parameters;
    for (const [name, value] of Object.entries(changes)) {
      parameters.delete(name);
      for (const text of value === null ? [] : [value].flat()) if (text !== "") parameters.append(name, text);
    }
    this.#go(`${this.path}${parameters.size > 0 ? `?${parameters}` : ""}`, { replaces });
  }

  #go(address, { replaces = false } = {}) {
    if (replaces) history.replaceState({}, "", address);
    else history.pushState({}, "", address);
    this.#onChange(this.path);
  }

  /** Follows links to views without reloading the page. */
  #follow(event) {
    const link = event.target.closest?.("a[data-view]");
    if (!link || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    this.#go(link.getAttribute("href"));
  }
}
