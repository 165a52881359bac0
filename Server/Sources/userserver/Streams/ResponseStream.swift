import Hummingbird
import NIOCore

/// The body of a response that is written while it is made.
///
/// `@unchecked Sendable`: Hummingbird's writer is used by one task, which awaits each write.
final class ResponseStream: @unchecked Sendable {
  private var writer: any ResponseBodyWriter

  init(_ writer: any ResponseBodyWriter) { self.writer = writer }

  /// Sends text; waits while the client is slower, so that nothing piles up.
  func write(_ text: String) async throws { try await writer.write(ByteBuffer(string: text)) }

  func finish() async throws { try await writer.finish(nil) }
}
