/** A user: an id, which is text because it can have 64 bits, and the attributes' values by name. */
import { NumberText } from "./json.js";
import { decodeValue, encodeValue, unset } from "./values.js";

export class User {
  constructor(id, values) {
    this.id = id;
    this.values = values;
  }

  value(attribute) {
    return this.values.get(attribute) ?? unset;
  }

  /** A copy in which an attribute has another value. */
  with(attribute, value) {
    const values = new Map(this.values);
    if (value.kind === "unset") values.delete(attribute);
    else values.set(attribute, value);
    return new User(this.id, values);
  }
}

export function decodeUser(json) {
  const values = new Map();
  for (const [name, value] of json) {
    if (name !== "id" && value !== null) values.set(name, decodeValue(value));
  }
  return new User(json.get("id").source, values);
}

export function userJSON(user) {
  const json = new Map([["id", new NumberText(user.id)]]);
  for (const [name, value] of user.values) json.set(name, encodeValue(value));
  return json;
}
