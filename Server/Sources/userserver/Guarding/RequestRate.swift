import HTTPTypes
import Synchronization

/// Limits how many requests each person sends in a minute.
///
/// A bucket of tokens for each: full at first, and filled evenly. A person who sent nothing for a minute needs no memory.
final class RequestRate: Sendable {
  private let perMinute: Int
  private let now: @Sendable () -> ContinuousClock.Instant
  private let buckets = Mutex<[String: Bucket]>([:])

  private struct Bucket {
    var rest: Double
    var time: ContinuousClock.Instant
  }

  /// How many buckets there may be until the full ones are removed.
  private static let cleaning = 10_000

  init(perMinute: Int, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
    (self.perMinute, self.now) = (perMinute, now)
  }

  /// Counts a request.
  ///
  /// - Parameter subject: Who sends it; there is no limit for the holder of the single token, whose subject is empty.
  /// - Throws: `tooManyRequests` with the seconds until the next one is accepted.
  func count(_ subject: String) throws(Problem) {
    if subject.isEmpty { return }
    let (now, perSecond) = (now(), Double(perMinute) / 60)
    let wait: Double? = buckets.withLock { buckets in
      if buckets.count >= Self.cleaning { buckets = buckets.filter { now - $0.value.time < .seconds(60) } }
      var bucket = buckets[subject] ?? Bucket(rest: Double(perMinute), time: now)
      bucket.rest = min(Double(perMinute), bucket.rest + (now - bucket.time) / .seconds(1) * perSecond)
      bucket.time = now
      let isAccepted = bucket.rest >= 1
      if isAccepted { bucket.rest -= 1 }
      buckets[subject] = bucket
      return isAccepted ? nil : (1 - bucket.rest) / perSecond
    }
    guard let wait else { return }
    throw Problem(
      .tooManyRequests, "tooManyRequests", "you have sent more than \(perMinute) requests in a minute",
      retryAfter: Int(wait.rounded(.up)))
  }
}
