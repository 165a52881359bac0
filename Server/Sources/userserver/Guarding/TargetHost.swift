import NIOCore
import NIOHTTP1
import NIOHTTPTypesHTTP1

/// Makes the host in a target such as `http://example.com/users` visible to the guard of requests.
///
/// That host replaces Host (RFC 9112, 3.2.2), but later handlers see only the path. If the two differ, the request gets a second
/// Host, and is refused.
final class TargetHost: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = HTTPServerRequestPart

  /// Adds the handler where requests still have their target.
  static func add(to pipeline: ChannelPipeline) throws {
    let codec = try pipeline.syncOperations.handler(type: HTTP1ToHTTPServerCodec.self)
    try pipeline.syncOperations.addHandler(TargetHost(), position: .before(codec))
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard case .head(var head) = unwrapInboundIn(data), let host = Self.host(in: head.uri),
      head.headers["Host"].first?.lowercased() != host.lowercased()
    else { return context.fireChannelRead(data) }
    head.headers.add(name: "Host", value: host)
    context.fireChannelRead(wrapInboundOut(.head(head)))
  }

  /// The host in a target; nil for a path and for `*`.
  private static func host(in target: String) -> String? {
    guard !target.hasPrefix("/"), let colon = target.firstIndex(of: ":") else { return nil }
    let rest = target[colon...].dropFirst()
    // No path answers `CONNECT host:port`.
    guard rest.hasPrefix("//") else { return nil }
    return String(rest.dropFirst(2).prefix { !"/?#".contains($0) })
  }
}
