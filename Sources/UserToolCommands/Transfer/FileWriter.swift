/// Writes to a descriptor in large pieces.
struct FileWriter: ~Copyable {
  private let descriptor: Int32
  private let name: String
  private let hint: String?
  private var pending: [UInt8] = []

  private static let capacity = 1 << 18

  init(_ descriptor: Int32, name: String, hint: String? = nil) {
    self.descriptor = descriptor
    self.name = name
    self.hint = hint
  }

  mutating func write(_ bytes: [UInt8]) throws(Failure) {
    pending += bytes
    if pending.count >= Self.capacity { try flush() }
  }

  mutating func flush() throws(Failure) {
    guard System.writeAll(pending, to: descriptor) else {
      throw Failure(.failure, "cannot write \(name): \(System.lastError)", hint: hint)
    }
    pending.removeAll(keepingCapacity: true)
  }
}
