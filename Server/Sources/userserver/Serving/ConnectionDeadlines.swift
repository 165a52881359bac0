import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// Refuses connections beyond the limit, and closes those of slow clients, so that no client holds a connection without using it.
///
/// The head of the first request has 10 s, a whole body 30 s, and the next request 60 s from the end of the response. A response
/// may take any time, as a stream does, but must not wait for its reader: the connection is closed if the client receives nothing
/// between two checks, which takes 10 to 15 s.
final class ConnectionDeadlines: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPRequestPart
  typealias OutboundIn = HTTPResponsePart
  typealias OutboundOut = HTTPResponsePart

  private enum Limits {
    static let head = TimeAmount.seconds(10)
    static let body = TimeAmount.seconds(30)
    static let idle = TimeAmount.seconds(60)
    static let progressCheck = TimeAmount.seconds(5)
    /// The client should close the connection within this time of the last response.
    static let linger = TimeAmount.seconds(2)
  }

  /// The error for a body's reader if the body is not complete in time.
  struct BodyTooSlow: Error {}

  private let connections: Connections
  /// The place among the idle connections; nil while a request is being answered.
  private var place: Int?
  private var isRefused = false
  private var deadline: Scheduled<Void>?
  private var progressChecks: RepeatedTask?
  /// The number of requests whose responses have not ended.
  private var pending = 0
  private var isLast = false
  /// Whether the client sends no more, as one that has gone.
  private(set) var isInputClosed = false
  private var written = 0
  private var received = 0
  private var checksWithoutProgress = 0

  init(_ connections: Connections) { self.connections = connections }

  func handlerAdded(context: ChannelHandlerContext) {
    if context.channel.isActive { start(context) }
  }

  func channelActive(context: ChannelHandlerContext) {
    start(context)
    context.fireChannelActive()
  }

  func channelInactive(context: ChannelHandlerContext) {
    end()
    context.fireChannelInactive()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if let event = event as? ChannelEvent, event == .inputClosed { isInputClosed = true }
    context.fireUserInboundEventTriggered(event)
  }

  func handlerRemoved(context: ChannelHandlerContext) { end() }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if isRefused { return }
    switch unwrapInboundIn(data) {
    case .head:
      pending += 1
      becomeBusy()
      let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
      schedule(context, Limits.body) { bound.value.fireErrorCaught(BodyTooSlow()) }
    case .body: break
    // After the response, the time for the next request has already begun.
    case .end: if pending > 0 { deadline?.cancel() }
    }
    context.fireChannelRead(data)
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    switch unwrapOutboundIn(data) {
    case .head(let head):
      written += 256
      if head.status.kind == .informational { return context.write(data, promise: promise) }
      isLast = head.headerFields[.connection] == "close"
    case .body(let bytes): written += bytes.readableBytes
    case .end:
      // The time for the next request begins when the client has received the response.
      let promise = promise ?? context.eventLoop.makePromise()
      let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
      // A copy: the next response may begin before this one is sent.
      let isLast = isLast
      promise.futureResult.whenSuccess { bound.value.0.ended(bound.value.1, isLast: isLast) }
      return context.write(data, promise: promise)
    }
    context.write(data, promise: promise)
  }

  private func ended(_ context: ChannelHandlerContext, isLast: Bool) {
    pending -= 1
    if isLast {
      // Requests that were sent ahead get no answer. Input is closed later: closing a connection with unread input resets it, and
      // the response may be lost.
      context.close(mode: .output, promise: nil)
      return close(context, after: Limits.linger)
    }
    if pending == 0 {
      close(context, after: Limits.idle)
      becomeIdle(context)
    }
  }

  private func start(_ context: ChannelHandlerContext) {
    if progressChecks != nil { return }
    close(context, after: Limits.head)
    // Before it is idle, or it could make room for itself.
    if connections.open() { becomeIdle(context) } else { refuse(context) }
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    progressChecks = context.eventLoop.scheduleRepeatedTask(
      initialDelay: Limits.progressCheck, delay: Limits.progressCheck
    ) { _ in
      bound.value.0.checkProgress(bound.value.1)
    }
  }

  private func end() {
    if progressChecks == nil { return }
    deadline?.cancel()
    progressChecks?.cancel()
    progressChecks = nil
    becomeBusy()
    connections.closed()
  }

  private func becomeIdle(_ context: ChannelHandlerContext) {
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    place = connections.becameIdle {
      bound.eventLoop.execute {
        // A request may have arrived meanwhile.
        if bound.value.0.pending == 0 { bound.value.1.close(promise: nil) }
      }
    }
  }

  private func becomeBusy() {
    if let place { connections.becameBusy(place) }
    place = nil
  }

  /// Answers without waiting for a request, which may never come.
  private func refuse(_ context: ChannelHandlerContext) {
    isRefused = true
    pending += 1
    let problem = Problem.tooManyConnections(connections.limit)
    let body = ByteBuffer(string: problem.json)
    var head = HTTPResponse(status: problem.status, headerFields: problem.fields)
    head.headerFields[.connection] = "close"
    head.headerFields[.contentLength] = "\(body.readableBytes)"
    write(context: context, data: wrapOutboundOut(.head(head)), promise: nil)
    write(context: context, data: wrapOutboundOut(.body(body)), promise: nil)
    write(context: context, data: wrapOutboundOut(.end(nil)), promise: nil)
    context.flush()
  }

  /// Closes the connection at the second check without progress although there is something to send.
  private func checkProgress(_ context: ChannelHandlerContext) {
    guard let waiting = try? context.channel.syncOptions?.getOption(.bufferedWritableBytes), waiting > 0 else {
      checksWithoutProgress = 0
      return
    }
    let now = written - waiting
    checksWithoutProgress = now > received ? 0 : checksWithoutProgress + 1
    received = max(received, now)
    if checksWithoutProgress >= 2 { context.close(promise: nil) }
  }

  private func close(_ context: ChannelHandlerContext, after time: TimeAmount) {
    let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
    schedule(context, time) { bound.value.close(promise: nil) }
  }

  private func schedule(_ context: ChannelHandlerContext, _ time: TimeAmount, _ action: @escaping @Sendable () -> Void)
  {
    deadline?.cancel()
    deadline = context.eventLoop.scheduleTask(in: time, action)
  }
}
