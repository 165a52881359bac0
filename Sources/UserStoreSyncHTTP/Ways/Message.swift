/// A request of HTTP: GET without a body, POST with one.
struct Message: Sendable {
  let url: String
  let headers: [(name: String, value: String)]
  let body: [UInt8]?

  /// The longest time without a byte, in seconds; a server answers after 25 even if there is nothing new.
  static let silence = 60
}

/// A request without an answer, or without a whole one, in the words of the system.
struct HTTPFailure: Error, CustomStringConvertible {
  let description: String
}
