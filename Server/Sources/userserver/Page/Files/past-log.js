/**
 * Changes that were made before those that the window holds.
 *
 * The log is read forward only. Of one user, all changes are read; otherwise the last rows of the log, so that a long
 * log is not read as a whole.
 */
import { LogModel } from "./log-model.js";
import { parse } from "./json.js";

export const lastRows = 1_000;
/** A user with more changes is searched in the last rows only. */
const maximumChanges = 20_000;

/**
 * Reads changes that meet a filter: {rows, isWhole}, where isWhole says that the whole log was searched.
 *
 * Throws Problem or NoAnswer.
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
