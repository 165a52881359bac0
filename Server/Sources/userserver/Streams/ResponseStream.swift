import Hummingbird
import NIOCore

/// The body of a response that is written in parts.
///
/// `@unchecked Sendable`: one task uses Hummingbird's writer, and awaits each write.
final class ResponseStream: @unchecked Sendable {
  private var writer: any ResponseBodyWriter
  private let channel: (any Channel)?
  /// The bytes written since the writer could last learn that the client is slow.
  private var ahead = 0

  private static let partLength = 64 << 10

  init(_ writer: any ResponseBodyWriter, to channel: (any Channel)?) { (self.writer, self.channel) = (writer, channel) }

  func write(_ text: String) async throws { try await write(text.utf8) }

  /// Sends bytes; waits while the client is slower, so that unsent data does not accumulate.
  func write(_ bytes: some Collection<UInt8>) async throws {
    var rest = bytes[...]
    while !rest.isEmpty {
      let part = rest.prefix(Self.partLength)
      rest = rest[part.endIndex...]
      try await writer.write(ByteBuffer(bytes: part))
      ahead += part.count
      if ahead >= Self.partLength { try await synchronize() }
    }
  }

  func finish() async throws { try await writer.finish(nil) }

  /// Waits until the connection's event loop has taken all written data.
  ///
  /// On that loop, SwiftNIO informs the writer that the client is slow; until then, the writer accepts everything at once.
  private func synchronize() async throws {
    ahead = 0
    try await channel?.eventLoop.submit {}.get()
  }
}
