import HTTPTypes
import Synchronization

/// Limits how many requests each person sends in a minute.
///
/// A bucket of tokens for each: full at first, and filled evenly, within a minute. Once a minute, those that are full again are removed.
final class RequestRate: Sendable {
  private let perMinute: Int
  private let state = Mutex(State())

  private struct State {
    var buckets: [String: Bucket] = [:]
    var cleaned = ContinuousClock.now
  }

  private struct Bucket {
    var rest: Double
    var time: ContinuousClock.Instant
  }

  init(perMinute: Int) { self.perMinute = perMinute }

  /// Counts a request.
  ///
  /// - Parameter subject: Who sends it; there is no limit for the holder of the single token, whose subject is empty.
  /// - Throws: `tooManyRequests` with the seconds until the next one is accepted.
  func count(_ subject: String) throws(Problem) {
    if subject.isEmpty { return }
    let (now, perSecond) = (ContinuousClock.now, Double(perMinute) / 60)
    let wait: Double? = state.withLock { state in
      if now - state.cleaned >= .seconds(60) {
        state.buckets = state.buckets.filter { now - $0.value.time < .seconds(60) }
        state.cleaned = now
      }
      var bucket = state.buckets[subject] ?? Bucket(rest: Double(perMinute), time: now)
      bucket.rest = min(Double(perMinute), bucket.rest + (now - bucket.time) / .seconds(1) * perSecond)
      bucket.time = now
      let isAccepted = bucket.rest >= 1
      if isAccepted { bucket.rest -= 1 }
      state.buckets[subject] = bucket
      return isAccepted ? nil : (1 - bucket.rest) / perSecond
    }
    guard let wait else { return }
    throw Problem(
      .tooManyRequests, "tooManyRequests", "you have sent more than \(perMinute) requests in a minute",
      retryAfter: Int(wait.rounded(.up)))
  }
}
