/** Requests to the server, with the token, exact numbers, and errors as Problem. */
import { eventsOf } from "./event-stream.js";
import { request } from "./request.js";
import { integer, parse, stringify } from "../shared/json.js";

const longestTime = 30_000;

/** An unsuccessful answer of the server. */
export class Problem extends Error {
  constructor(status, json) {
    const body = json instanceof Map ? json : new Map();
    super(body.get("detail") ?? body.get("title") ?? `The server answered ${status}.`);
    this.status = status;
    this.code = body.get("code") ?? "";
    this.hint = body.get("hint") ?? null;
    this.parameter = body.get("parameter") ?? null;
    /** The text with a mistake, and the range of the mistake in Unicode scalars. */
    this.text = body.get("text") ?? null;
    this.start = integer(body.get("start")) ?? null;
    this.length = integer(body.get("length")) ?? 0;
    /** After a conflict, the current values of the attributes. */
    this.current = body.get("current") ?? null;
    /** Whether the same request may succeed later. */
    this.canRetry = status === 503;
  }
}

/** Without an answer, a write may or may not have been made. */
export class NoAnswer extends Error {
  constructor() {
    super("The server cannot be reached.");
    this.canRetry = true;
  }
}

export class API {
  #token;

  constructor(token) {
    this.#token = token;
  }

  /** Sends a request; returns {status, json, etag}. Throws Problem or NoAnswer. */
  async request(method, path, { body, headers = {} } = {}) {
    for (;;) {
      const token = this.#token.value;
      const { response, text } = await this.#send(method, path, body, headers, token);
      if (response.status === 401) {
        // The request waits for the token, so that nothing typed is lost.
        document.dispatchEvent(new Event("token-needed"));
        await this.#token.another(token);
        continue;
      }
      this.#token.accepted(token);
      const json = readJSON(text);
      if (!response.ok) throw new Problem(response.status, json);
      return { status: response.status, json, etag: response.headers.get("ETag") };
    }
  }

  get(path) {
    return this.request("GET", path);
  }

  /** The events of a stream, until it ends. Leaving the loop ends the request. Throws Problem or NoAnswer. */
  async *events(path, signal) {
    const abort = new AbortController();
    signal.addEventListener("abort", () => abort.abort());
    try {
      const response = await request(path, this.#token.value, "text/event-stream", { signal: abort.signal });
      if (!response.ok) throw new Problem(response.status, readJSON(await response.text()));
      for await (const events of eventsOf(response)) yield* events;
    } catch (error) {
      throw error instanceof Problem ? error : new NoAnswer();
    } finally {
      abort.abort();
    }
  }

  async #send(method, path, body, headers, token) {
    try {
      const content = body === undefined ? {} : { "Content-Type": "application/json" };
      const response = await request(path, token, "application/json", {
        method, headers: { ...content, ...headers }, body: body === undefined ? undefined : stringify(body),
        signal: AbortSignal.timeout(longestTime),
      });
      return { response, text: await response.text() };
    } catch {
      throw new NoAnswer();
    }
  }
}

export function readProblem(status, text) {
  return new Problem(status, readJSON(text));
}

function readJSON(text) {
  try {
    return parse(text);
  } catch {
    return null;
  }
}
