import Dispatch

/// A time that is sent as a user's name from a writer to a listener, in this process or another one.
enum Stamp {
  /// The name that ends a follower.
  static let end = "end"
  private static let mark = "at "

  static func now() -> String { mark + String(DispatchTime.now().uptimeNanoseconds) }

  /// The age of a stamp, or nil if the name is not a stamp.
  static func age(of name: String) -> Duration? {
    guard name.hasPrefix(mark), let moment = UInt64(name.dropFirst(mark.count)) else { return nil }
    return .nanoseconds(Int64(DispatchTime.now().uptimeNanoseconds) - Int64(moment))
  }
}
