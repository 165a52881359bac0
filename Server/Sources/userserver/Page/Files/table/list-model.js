/** The rows of a list, kept current by the events of GET /lists. */
import { integer, parse } from "../shared/json.js";
import { decodeUser } from "../shared/user.js";

export class ListModel {
  users = [];
  revision = 0;
  /** The last revision at which count and hash equaled the server's; null before the first comparison. */
  verifiedAt = null;
  isComplete = false;
  #parts = [];

  /**
   * Applies an event; returns its effect.
   *
   * {rows: true} if all rows may have changed, {steps, updated} for steps, where `updated` are the ids of users with
   * new values, {isVerified} after a comparison, or {}.
   */
  apply({ event, data }) {
    switch (event) {
      case "opened":
        this.#parts = [];
        return {};
      case "rows": return this.#takeRows(parse(data));
      case "users": return this.#takePage(parse(data));
      case "steps": return this.#takeSteps(parse(data));
      case "progress": return this.#verify(parse(data));
      default: return {};
    }
  }

  #takeRows(json) {
    this.#parts.push(...json.get("rows").map(decodeUser));
    if (json.get("last") !== true) return {};
    return this.#replaceAll(this.#parts.splice(0), json);
  }

  #takePage(json) {
    return this.#replaceAll(json.get("users").map(decodeUser), json);
  }

  #replaceAll(users, json) {
    this.users = users;
    this.revision = integer(json.get("revision"));
    this.isComplete = true;
    return { rows: true };
  }

  #takeSteps(json) {
    const steps = json.get("steps");
    const updated = [];
    for (const step of steps) {
      const user = this.#make(step);
      if (user) updated.push(user);
    }
    if (json.get("last") === true) this.revision = integer(json.get("revision"));
    return { steps: steps.length, updated };
  }

  /** Applies one step; returns the id of a user with new values. */
  #make(step) {
    const user = step.has("user") ? decodeUser(step.get("user")) : null;
    switch (step.get("op")) {
      case "insert":
        this.users.splice(integer(step.get("at")), 0, user);
        break;
      case "remove":
        this.users.splice(integer(step.get("at")), 1);
        break;
      case "move": {
        const [moved] = this.users.splice(integer(step.get("from")), 1);
        this.users.splice(integer(step.get("to")), 0, user ?? moved);
        break;
      }
      case "update":
        this.users[integer(step.get("at"))] = user;
        break;
    }
    return user?.id ?? null;
  }

  #verify(json) {
    this.revision = Math.max(this.revision, integer(json.get("revision")));
    if (!json.has("hash") || !this.isComplete) return {};
    const isVerified =
      integer(json.get("count")) === this.users.length && json.get("hash") === hashOf(this.users);
    this.verifiedAt = isVerified ? this.revision : null;
    return { isVerified };
  }
}

/** FNV-1a with 32 bits over the ids, joined by commas, as the server computes it over its rows. */
export function hashOf(users) {
  let hash = 2166136261;
  const text = users.map(({ id }) => id).join(",");
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 16777619);
  return (hash >>> 0).toString(16).padStart(8, "0");
}
