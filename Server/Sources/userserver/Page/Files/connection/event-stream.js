/** The events in each chunk of a response. Leaving the loop does not end the request. */
export async function* eventsOf(response) {
  const parser = new EventStreamParser();
  const decoder = new TextDecoder();
  const reader = response.body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield parser.push(decoder.decode(value, { stream: true }));
  }
}

/** Parses text/event-stream from chunks of text, as the HTML standard describes it. */
export class EventStreamParser {
  #parts = [];
  #endedWithReturn = false;
  #event = "";
  #data = null;
  #id = undefined;

  /** Returns the events that a chunk completes: {event, data, id}; id is undefined if the event has none. */
  push(chunk) {
    if (this.#endedWithReturn && chunk.startsWith("\n")) chunk = chunk.slice(1);
    if (chunk !== "") this.#endedWithReturn = chunk.endsWith("\r");
    const events = [];
    let start = 0;
    for (const { 0: lineEnd, index } of chunk.matchAll(/\r\n|\n|\r/g)) {
      // The chunks of a long line are joined once, at its end.
      this.#parts.push(chunk.slice(start, index));
      const line = this.#parts.length === 1 ? this.#parts[0] : this.#parts.join("");
      this.#parts.length = 0;
      start = index + lineEnd.length;
      const event = this.#line(line);
      if (event) events.push(event);
    }
    if (start < chunk.length) this.#parts.push(chunk.slice(start));
    return events;
  }

  #line(line) {
    if (line === "") return this.#dispatch();
    const colon = line.indexOf(":");
    if (colon === 0) return null;
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
    if (field === "data") this.#data = this.#data === null ? value : `${this.#data}\n${value}`;
    else if (field === "event") this.#event = value;
    else if (field === "id" && !value.includes("\0")) this.#id = value;
    return null;
  }

  #dispatch() {
    const event = this.#data === null
      ? null
      : { event: this.#event || "message", data: this.#data, id: this.#id };
    this.#event = "";
    this.#data = null;
    this.#id = undefined;
    return event;
  }
}
