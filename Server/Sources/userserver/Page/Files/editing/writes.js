/** The writes of this window, which are pending until the stream passes their revision, and can be undone. */
import { capitalized } from "../shared/dom.js";
import { integer } from "../shared/json.js";
import { Observers } from "../shared/observers.js";
import { currentOf } from "./drafts.js";
import { decodeUser } from "../shared/user.js";
import { problemText } from "../shared/notices.js";
import { encodeValue, sameValue, textValue } from "../shared/values.js";
import { valueInWords } from "../shared/value-view.js";

const undecided = "Another program has changed this value. Keep yours, or take theirs.";
const origin = { "Change-Origin": "page" };
/** The name, hair color, and age of sample users for an empty database. */
const samples = [
  ["NIX", "auburn", "41"],
  ["Zoë", "black", "36"],
  ["Tim", "blond", "17"],
];

export class Writes {
  /** The latest writes as {revision, label}, the newest last. */
  done = [];
  /** Called with the id of a user whose pending writes have changed; null if `done` has. */
  changes = new Observers();
  #api;
  #drafts;
  #notices;
  #pending = new Map();
  #removing = new Map();
  /** The last revision from the stream, which may be ahead of the answer to a write. */
  #passed = 0;

  constructor(api, drafts, notices) {
    this.#api = api;
    this.#drafts = drafts;
    this.#notices = notices;
  }

  /** The value of a pending write of an attribute, or undefined. */
  pendingValue(user, attribute) {
    return this.#pending.get(`${user}/${attribute}`)?.value;
  }

  isRemoving(user) {
    return this.#removing.has(user);
  }

  /** Notes a revision from the stream: writes up to it are no longer pending. */
  passed(revision) {
    this.#passed = revision;
    for (const [key, write] of this.#pending) {
      if (write.revision > revision) continue;
      this.#pending.delete(key);
      this.changes.call(write.user);
    }
    for (const [user, removal] of this.#removing) {
      if (removal <= revision) this.#removing.delete(user);
    }
  }

  /**
   * Saves a draft, and closes it when the server has the value; otherwise the draft explains the problem.
   *
   * Returns "saved", "unchanged" if there was nothing to write, or "refused".
   */
  async save(draft) {
    if (draft.isSaving) return "refused";
    const { value, problem } = draft.read();
    if (problem) return this.#refuse(draft, problem);
    if (draft.theirs) return this.#refuse(draft, undecided);
    if (sameValue(value, draft.base)) {
      this.#drafts.close(draft);
      return "unchanged";
    }
    draft.isSaving = true;
    draft.sending = value;
    draft.problem = null;
    draft.canRetry = false;
    this.#drafts.changed(draft);
    try {
      const { user, attribute, base } = draft;
      const answer = await this.patch(user, new Map([[attribute, value]]), new Map([[attribute, base]]));
      draft.isSaving = false;
      this.#saved(draft, answer);
      return "saved";
    } catch (error) {
      draft.isSaving = false;
      return this.#failed(draft, value, error);
    }
  }

  /** Sets a user's values if other values are as expected. Returns {user, revision, isUnchanged}. */
  async patch(id, set, expect) {
    const { json } = await this.#api.request("PATCH", `/users/${id}`, {
      body: new Map([["set", encodeAll(set)], ["expect", encodeAll(expect)]]), headers: origin,
    });
    const isUnchanged = json.get("unchanged") === true;
    const revision = integer(json.get("revision"));
    const labels = [...set].map(([name, value]) => `${name} of user ${id}: ${valueInWords(value)}`);
    if (!isUnchanged) this.#remember(revision, labels.join(", "));
    return { user: decodeUser(json.get("user")), revision, isUnchanged };
  }

  #saved(draft, { user: stored, revision, isUnchanged }) {
    const { user, attribute } = draft;
    // The stored value may be written differently: #a52a2a for auburn.
    if (!isUnchanged && revision > this.#passed) {
      this.#pending.set(`${user}/${attribute}`, { user, value: stored.value(attribute), revision });
    }
    this.#drafts.close(draft);
  }

  #failed(draft, wanted, error) {
    const current = error.status === 409 ? currentOf(error, draft.attribute) : null;
    if (current && sameValue(current, wanted)) {
      // The answer was lost, or another writer wrote the same value.
      this.#drafts.close(draft);
      return "saved";
    }
    if (current) {
      draft.theirs = current;
      draft.wasRefused = true;
      return this.#refuse(draft, undecided);
    }
    if (error.status === 404) {
      draft.isRemoved = true;
      return this.#refuse(draft, null);
    }
    draft.canRetry = error.canRetry ?? false;
    return this.#refuse(draft, problemText(error));
  }

  #refuse(draft, problem) {
    draft.problem = problem;
    this.#drafts.changed(draft);
    return "refused";
  }

  /** Adds a user with values by name; returns {user, revision}. Throws Problem. */
  async add(values) {
    const { json } = await this.#api.request("POST", "/users", { body: encodeAll(values), headers: origin });
    const user = decodeUser(json.get("user"));
    const revision = integer(json.get("revision"));
    const label = `added user ${user.id}, ${valueInWords(user.value("name"))}`;
    this.#remember(revision, label);
    this.#say(capitalized(label), revision);
    return { user, revision };
  }

  async addSamples() {
    try {
      for (const [name, color, age] of samples) {
        await this.add(new Map([
          ["name", textValue(name)], ["hair_color", textValue(color)], ["age", { kind: "integer", source: age }],
        ]));
      }
      this.#notices.show("Added three users. To edit a value, click it twice, or press Enter.");
    } catch (error) {
      this.#notices.showProblem(error);
    }
  }

  /** Removes a user who is unchanged since the page showed it. */
  async remove(shown) {
    try {
      const { json: found, etag } = await this.#api.get(`/users/${shown.id}`);
      if (!isSameUser(decodeUser(found), shown)) {
        const text = `User ${shown.id} has just changed. Look at the new values, then remove it.`;
        this.#notices.show(text, { isProblem: true });
        return;
      }
      const headers = { ...origin, "If-Match": etag };
      const { json } = await this.#api.request("DELETE", `/users/${shown.id}`, { headers });
      const revision = integer(json.get("revision"));
      if (revision > this.#passed) this.#removing.set(shown.id, revision);
      this.changes.call(shown.id);
      const label = `removed user ${shown.id}, ${valueInWords(shown.value("name"))}`;
      this.#remember(revision, label);
      this.#say(capitalized(label), revision);
    } catch (error) {
      if (error.status === 404) this.#notices.show(`User ${shown.id} is already removed.`);
      else this.#notices.showProblem(error, { retry: () => this.remove(shown) });
    }
  }

  /** Undoes the write of a revision; returns whether that succeeded. */
  async undo(revision) {
    try {
      const { json } = await this.#api.request("POST", `/changes/${revision}/undo`);
      this.done = this.done.filter((write) => write.revision !== revision);
      this.#notices.show(`Undid revision ${revision}. This is revision ${integer(json.get("revision"))}.`);
      this.changes.call(null);
      return true;
    } catch (error) {
      // The write can never be undone, and must not block earlier ones.
      if ([404, 410].includes(error.status)) this.done = this.done.filter((write) => write.revision !== revision);
      this.#notices.showProblem(error, { retry: () => this.undo(revision) });
      this.changes.call(null);
      return false;
    }
  }

  #say(text, revision) {
    this.#notices.show(`${text}.`, { action: { label: "Undo", run: () => this.undo(revision) } });
  }

  #remember(revision, label) {
    this.done.push({ revision, label });
    if (this.done.length > 50) this.done.shift();
    this.changes.call(null);
  }
}

function isSameUser(a, b) {
  if (a.values.size !== b.values.size) return false;
  return [...a.values].every(([name, value]) => sameValue(value, b.value(name)));
}

const encodeAll = (values) => new Map([...values].map(([name, value]) => [name, encodeValue(value)]));
