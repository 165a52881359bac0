import NIOCore
import NIOHTTP1
import NIOHTTPTypesHTTP1

/// Shows the guard of requests the host in a target such as `http://example.com/users`.
///
/// That host counts in place of Host (RFC 9112, 3.2.2), but what comes after this handler sees only the path. If it is another
/// one, the request gets it as a second Host, and is refused.
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

  /// The host of a target; nil for a path, and for `*`.
  private static func host(in target: String) -> String? {
    guard !target.hasPrefix("/"), let colon = target.firstIndex(of: ":") else { return nil }
    let rest = target[colon...].dropFirst()
    // `CONNECT host:port`, which no path answers.
    guard rest.hasPrefix("//") else { return nil }
    return String(rest.dropFirst(2).prefix { !"/?#".contains($0) })
  }
}
