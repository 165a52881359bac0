import UserStore

extension Timestamp {
  /// The local time of day: `05:20:11`.
  var localTime: String { localParts.time }

  /// The local date and time: `2026-11-21 05:20:11`.
  var local: String {
    let (date, time) = localParts
    return date + " " + time
  }

  private var localParts: (date: String, time: String) { parts(offset: System.utcOffset(atSecond: second)) }
}
