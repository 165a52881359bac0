/** The part of the address that says which users the table shows, and in which order. */
export const pageSizes = [25, 100, 250, 1_000];
const defaultSize = 100;

export class UsersQuery {
  /** parameters: those of the address. */
  constructor(parameters) {
    this.conditions = ["where", "with", "without"].flatMap((parameter) =>
      parameters.getAll(parameter).map((text) => ({ parameter, text })));
    this.sort = parameters.getAll("sort").map(readSortKey);
    const limit = Number(parameters.get("limit"));
    this.limit = Number.isInteger(limit) && limit >= 1 && limit <= 1_000 ? limit : defaultSize;
    this.after = parameters.get("after") ?? "";
  }

  /** The query of GET /lists, and of GET /users with the same users. */
  get text() {
    const parameters = this.#filter();
    for (const key of this.sort) parameters.append("sort", writeSortKey(key));
    parameters.set("limit", this.limit);
    if (this.after) parameters.set("after", this.after);
    return parameters.toString();
  }

  /** The conditions; the number of users who meet them is the same for each page in each order. */
  get filterText() {
    return this.#filter().toString();
  }

  /** The query of GET /users that counts all users who meet the conditions, and those before the page. */
  get countText() {
    const parameters = new URLSearchParams(this.after ? this.text : this.filterText);
    parameters.set("limit", "1");
    parameters.set("count", "true");
    return parameters.toString();
  }

  /** Whether changes can make other numbers: without conditions, an update can only move users to another page. */
  isCountedAnew(changes) {
    return this.filterText !== "" || (this.after !== "" && this.sort.length > 0)
      || changes.some(({ op }) => op !== "update");
  }

  #filter() {
    const parameters = new URLSearchParams();
    for (const { parameter, text } of this.conditions) parameters.append(parameter, text);
    return parameters;
  }

  /** The sort keys after a click on the head of a column: ascending, descending, none. */
  sortedBy(attribute, isAdded) {
    const old = this.sort.find((key) => key.attribute === attribute);
    const others = isAdded ? this.sort.filter((key) => key !== old) : [];
    const next = old?.isDescending ? [] : [{ attribute, isDescending: old !== undefined }];
    return [...others, ...next].map(writeSortKey);
  }
}

/** Only the last :asc or :desc counts, as in usertool. */
function readSortKey(text) {
  const match = /^(.*):(asc|desc)$/s.exec(text);
  return match ? { attribute: match[1], isDescending: match[2] === "desc" } : { attribute: text, isDescending: false };
}

const writeSortKey = ({ attribute, isDescending }) => `${attribute}:${isDescending ? "desc" : "asc"}`;
