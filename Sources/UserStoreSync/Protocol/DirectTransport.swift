import UserStore

/// Answers requests within the process, as a server of HTTP would: for tests, and for a replica of a store in the same process.
public struct DirectTransport: SyncTransport {
  private let service: SyncService

  /// The address, which names no server.
  public let address: String

  /// Creates a transport to a service.
  public init(to service: SyncService, address: String = "the same process") {
    (self.service, self.address) = (service, address)
  }

  /// Answers a request.
  public func send(_ request: SyncRequest) async throws -> SyncResponse {
    do {
      let received = try SyncRequest(
        path: request.path, query: request.query, body: request.body ?? [], replica: request.replica)
      return SyncResponse(status: 200, body: try await service.answer(received).body)
    } catch let error as StoreError {
      return SyncResponse(error)
    }
  }
}

extension SyncResponse {
  /// The answer for an error, as of userserver.
  init(_ error: StoreError) {
    let status =
      switch error.code {
      case .badValue, .badCursor: 400
      case .diverged, .replaced: 409
      case .compacted: 410
      case .wrongSubject, .readOnly, .readOnlyReplica: 403
      default: 503
      }
    self.init(
      status: status, body: JSON.object([("detail", .text(error.message)), ("code", .text(error.code.rawValue))]).bytes)
  }
}
