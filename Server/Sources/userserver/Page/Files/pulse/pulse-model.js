/** The last minute in numbers: changes per second, the server's delay in sending them, and the network. */
const seconds = 60;
const keptLags = 200;

export class PulseModel {
  /** The number of changes in each of the last 60 seconds, oldest first. */
  changes = new Array(seconds).fill(0);
  /** The longest time from commit to sending in each of these seconds, in milliseconds; null without changes. */
  lags = new Array(seconds).fill(null);
  /** Half of the median round trip to the server in milliseconds, or null. */
  halfRoundTrip = null;
  #recentLags = [];
  #recentTrips = [];
  #second = currentSecond();

  /** Counts the changes of a set that the stream has just delivered. */
  count(changes, lag) {
    this.advance();
    this.changes[seconds - 1] += changes;
    if (lag === null) return;
    this.lags[seconds - 1] = Math.max(lag, this.lags[seconds - 1] ?? 0);
    this.#recentLags.push(lag);
    if (this.#recentLags.length > keptLags * 2) this.#recentLags.splice(0, keptLags);
  }

  advance() {
    const now = currentSecond();
    const passed = Math.min(now - this.#second, seconds);
    this.#second = now;
    for (let second = 0; second < passed; second += 1) {
      this.changes.shift();
      this.changes.push(0);
      this.lags.shift();
      this.lags.push(null);
    }
  }

  get medianLag() {
    return median(this.#recentLags.slice(-keptLags));
  }

  /** Measures a round trip. The median of five is robust against a request that had to wait. */
  async measure() {
    const start = performance.now();
    try {
      const response = await fetch("/health", { cache: "no-store", credentials: "omit" });
      await response.arrayBuffer();
      if (!response.ok) return;
    } catch {
      return;
    }
    this.#recentTrips.push(performance.now() - start);
    if (this.#recentTrips.length > 5) this.#recentTrips.shift();
    this.halfRoundTrip = median(this.#recentTrips) / 2;
  }
}

const currentSecond = () => Math.floor(performance.now() / 1_000);

function median(numbers) {
  if (numbers.length === 0) return null;
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}

/** A time in milliseconds, such as "0.9 ms". */
export function inMilliseconds(time) {
  if (time === null) return "–";
  if (time >= 1_000) return `${(time / 1_000).toFixed(1)} s`;
  return `${time.toFixed(time < 10 ? 1 : 0)} ms`;
}
