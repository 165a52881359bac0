import Hummingbird
import NIOCore

/// The body of a response that is written in parts.
///
/// `@unchecked Sendable`: Hummingbird's writer is used by one task, which awaits each write.
final class ResponseStream: @unchecked Sendable {
  private var writer: any ResponseBodyWriter
  private let channel: (any Channel)?
  /// How much was written since the writer could last learn that the client is slow.
  private var ahead = 0

  private static let partLength = 64 << 10

  init(_ writer: any ResponseBodyWriter, to channel: (any Channel)?) { (self.writer, self.channel) = (writer, channel) }

  /// Sends text; waits while the client is slower, so that nothing piles up.
  func write(_ text: String) async throws {
    var rest = text.utf8[...]
    while !rest.isEmpty {
      let part = rest.prefix(Self.partLength)
      rest = rest[part.endIndex...]
      try await writer.write(ByteBuffer(bytes: part))
      ahead += part.count
      if ahead >= Self.partLength { try await synchronize() }
    }
  }

  func finish() async throws { try await writer.finish(nil) }

  /// Waits until the connection's event loop has taken all that was written.
  ///
  /// SwiftNIO tells the writer that the client is slow on that loop; until then, the writer accepts everything at once.
  private func synchronize() async throws {
    ahead = 0
    try await channel?.eventLoop.submit {}.get()
  }
}
