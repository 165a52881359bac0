import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypes

/// Answers an unreadable request with a problem, instead of Hummingbird's 400 without a body.
final class MalformedRequests: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPRequestPart
  typealias OutboundIn = HTTPResponsePart
  typealias OutboundOut = HTTPResponsePart

  /// The problem of the connection's last request.
  private var problem: Problem?
  /// Whether the answer has begun; without it, the connection ends in the middle of another answer.
  private var hasBegun = false

  func handlerAdded(context: ChannelHandlerContext) {
    // Without this handler, a request could name two hosts.
    do { try TargetHost.add(to: context.pipeline) } catch { context.close(promise: nil) }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    switch error {
    case HTTPParserError.headerOverflow:
      problem = Problem(.requestHeaderFieldsTooLarge, "headTooLong", "the address and headers have more than 80 KiB")
    case is HTTPParserError: problem = .badRequest("this is not a request of HTTP/1.1")
    default: break
    }
    context.fireErrorCaught(error)
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    guard let problem else { return context.write(data, promise: promise) }
    let body = ByteBuffer(string: problem.json)
    switch unwrapOutboundIn(data) {
    case .head(var head) where head.status == .badRequest:
      hasBegun = true
      head.status = problem.status
      head.headerFields[.contentLength] = "\(body.readableBytes)"
      head.headerFields[.contentType] = "application/problem+json"
      head.headerFields[.xContentTypeOptions] = "nosniff"
      context.write(wrapOutboundOut(.head(head)), promise: promise)
    case .end(let trailers) where hasBegun:
      context.write(wrapOutboundOut(.body(body)), promise: nil)
      context.write(wrapOutboundOut(.end(trailers)), promise: promise)
    default: context.write(data, promise: promise)
    }
  }
}
