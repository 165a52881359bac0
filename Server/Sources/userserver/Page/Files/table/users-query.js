/** The part of the address that selects and orders the table's users. */
export const pageSizes = [25, 100, 250, 1_000];
const defaultSize = 100;

export class UsersQuery {
  constructor(parameters) {
    this.conditions = ["where", "with", "without"].flatMap((parameter) =>
      parameters.getAll(parameter).map((text) => ({ parameter, text })));
    this.sort = parameters.getAll("sort").map(readSortKey);
    const limit = Number(parameters.get("limit"));
    this.limit = Number.isInteger(limit) && limit >= 1 && limit <= 1_000 ? limit : defaultSize;
    this.after = parameters.get("after") ?? "";
  }

  /** The query for GET /lists, and for GET /users with the same users. */
  get text() {
    const parameters = this.#filter();
    for (const key of this.sort) parameters.append("sort", writeSortKey(key));
    parameters.set("limit", this.limit);
    if (this.after) parameters.set("after", this.after);
    return parameters.toString();
  }

  /** The conditions alone: the number of matching users does not depend on the page and the order. */
  get filterText() {
    return this.#filter().toString();
  }

  /** The query for GET /users that counts all matching users, and those before the page. */
  get countText() {
    const parameters = new URLSearchParams(this.after ? this.text : this.filterText);
    parameters.set("limit", "1");
    parameters.set("count", "true");
    return parameters.toString();
  }

  /** Whether changes may affect the numbers: without conditions, an update only moves users between pages. */
  isCountedAnew(changes) {
    return this.filterText !== "" || (this.after !== "" && this.sort.length > 0)
      || changes.some(({ op }) => op !== "update");
  }

  #filter() {
    const parameters = new URLSearchParams();
    for (const { parameter, text } of this.conditions) parameters.append(parameter, text);
    return parameters;
  }

  /** The sort keys after a click on a column's head: ascending, descending, none. */
  sortedBy(attribute, isAdded) {
    const old = this.sort.find((key) => key.attribute === attribute);
    const others = isAdded ? this.sort.filter((key) => key !== old) : [];
    const next = old?.isDescending ? [] : [{ attribute, isDescending: old !== undefined }];
    return [...others, ...next].map(writeSortKey);
  }
}

/** As in usertool, only the last :asc or :desc counts. */
function readSortKey(text) {
  const match = /^(.*):(asc|desc)$/s.exec(text);
  return match ? { attribute: match[1], isDescending: match[2] === "desc" } : { attribute: text, isDescending: false };
}

const writeSortKey = ({ attribute, isDescending }) => `${attribute}:${isDescending ? "desc" : "asc"}`;
