/** Reads the past: changes that the window does not hold, and users before and after them. */
import { integer, parse } from "../shared/json.js";
import { LogModel, decodeChange } from "./log-model.js";
import { User, decodeUser } from "../shared/user.js";

export const lastRows = 1_000;
/** The largest number of changes of a user; beyond it, only the last rows are searched. */
const maximumChanges = 20_000;
/** The largest number of pages of changes since a set to read for a past user. */
const maximumPages = 50;

/**
 * Reads changes that meet a filter: {rows, isWhole}, where isWhole says that the whole log was searched.
 *
 * The log can only be read forward. All changes of one user are read; otherwise only the last rows, because a log may
 * be long. Throws Problem or NoAnswer.
 */
export async function readPastLog(api, filter, signal) {
  const whole = filter.user ? await read(api, { after: "oldest" }, filter, signal) : null;
  return { rows: whole ?? await read(api, { last: lastRows }, filter, signal), isWhole: whole !== null };
}

/** Returns the rows, or null if there are too many. */
async function read(api, start, filter, signal) {
  const query = new URLSearchParams(start);
  for (const [name, value] of Object.entries(filter)) if (value) query.set(name, value);
  const model = new LogModel({ isFiltered: Object.values(filter).some(Boolean) });
  for await (const event of api.events(`/changes?${query}`, signal)) {
    model.apply(event);
    if (start.after && model.count > maximumChanges) return null;
    if (event.event === "progress" && parse(event.data).get("upToDate") === true) break;
  }
  return model.allRows;
}

/**
 * A user before and after a change set: {before, after}, each null if there was no user.
 *
 * The store keeps current values, and the log changes. The value of an attribute after a set is the old value of its
 * first later change, or the current value if there is none. Current values are read first: a change made meanwhile
 * is then among the later changes.
 *
 * changes: those of the set to the user, in order. Throws Problem, for example if the log was deleted.
 */
export async function pastUser(api, { set, user }, changes) {
  const present = await presentUser(api, user);
  const after = rewound(present, await changesSince(api, set.cursor, user));
  return { after, before: rewound(after, changes) };
}

/** Reads a set's changes to a user that the window does not hold. Throws if they cannot be read. */
export async function changesOfSet(api, set, user) {
  if (set.before === null || set.isCut) throw new Error("This window holds only a part of the set.");
  const changes = [];
  for await (const change of readChanges(api, set.before, user)) {
    if (change.set.revision > set.revision) break;
    if (change.set.revision === set.revision) changes.push(change);
  }
  return changes;
}

async function presentUser(api, id) {
  try {
    return decodeUser((await api.get(`/users/${id}`)).json);
  } catch (error) {
    if (error.status === 404) return null;
    throw error;
  }
}

async function changesSince(api, cursor, user) {
  const changes = [];
  for await (const change of readChanges(api, cursor, user)) changes.push(change);
  return changes;
}

async function* readChanges(api, cursor, user) {
  let after = cursor;
  let set = null;
  for (let page = 0; page < maximumPages; page += 1) {
    const { json } = await api.get(`/changes?${new URLSearchParams({ after, user })}`);
    for (const change of json.get("changes")) {
      const revision = integer(change.get("revision"));
      if (set?.revision !== revision) set = { revision, purgedUsers: new Set() };
      yield decodeChange(change, set);
    }
    if (json.get("upToDate") === true) return;
    after = json.get("cursor");
  }
  throw new Error("Too many changes have been made since.");
}

/** The user before changes, which are in order. */
function rewound(user, changes) {
  let result = user;
  for (const { op, user: id, attribute, old } of [...changes].reverse()) {
    if (op === "event") continue;
    if (op !== "insert") result = (result ?? new User(id, new Map())).with(attribute, old);
    else if (attribute === "name") result = null;
  }
  return result;
}
