import Dispatch

/// A moment, carried as a user's name from the writer to whoever hears of it, in this process or another.
enum Stamp {
  /// Says to another process that nothing follows.
  static let end = "end"
  private static let mark = "at "

  static func now() -> String { mark + String(DispatchTime.now().uptimeNanoseconds) }

  /// How long ago it was; nil for a name that is no stamp.
  static func age(of name: String) -> Duration? {
    guard name.hasPrefix(mark), let moment = UInt64(name.dropFirst(mark.count)) else { return nil }
    return .nanoseconds(Int64(DispatchTime.now().uptimeNanoseconds) - Int64(moment))
  }
}
