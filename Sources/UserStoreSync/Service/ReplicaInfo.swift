public import UserStore

extension SyncService {
  /// A replica, as its requests have shown it since the service was created.
  public struct ReplicaInfo: Sendable {
    /// What a replica does.
    public enum State: String, CaseIterable, Sendable {
      /// It copies the users.
      case copying
      /// It follows, and has no request that waits: it applies changes, or it is gone.
      case following
      /// It has a request that the next change answers.
      case listening
    }

    /// The number in the replica's file, which it sends; a copied file has the same.
    public let producer: Int64
    /// Whom the token belongs to; empty for the single token of a server.
    public let subject: String
    /// Through which the replica has the server's log, as it said last; nil if it had nothing.
    public let cursor: UserStore.Cursor?
    /// How many revisions the log is ahead of the cursor; nil if it does not continue after it.
    public let behind: Int?
    /// What it does, as of its last request.
    public let state: State
    /// How many of its requests were refused, such as for a wrong token or a cursor from before a restore.
    public let refusals: Int
    /// How many ids its subset has; nil if it has all users.
    public let subset: Int?
    /// When its last request came, in milliseconds since 1970.
    public let timestamp: Int64
  }
}

/// The replica in the answer of `/replicas`; the producer is text, because many parsers of JSON round a number of 63 bits.
extension SyncService.ReplicaInfo {
  var json: JSON {
    func number(_ value: Int?) -> JSON { value.map { .integer(Int64($0)) } ?? .null }
    return .object([
      ("producer", .text("\(producer)")), ("subject", .text(subject)), ("state", .text(state.rawValue)),
      ("behind", number(behind)), ("at", .text(Timestamp(milliseconds: timestamp).utc)),
      ("refusals", number(refusals)), ("users", number(subset)),
      ("cursor", cursor.map { .text($0.description) } ?? .null),
    ])
  }
}

/// The replicas of a server, for usertool: the members of each, in their order, and nothing that the server may have added.
package struct ReplicaList {
  package static let columns = ["producer", "subject", "state", "behind", "at", "refusals", "users", "cursor"]
  package let rows: [[StoredValue]]

  /// Asks a server.
  ///
  /// - Throws: `SyncFailure` and `Replica.Problem`, which describe themselves, and the errors of the transport.
  package init(from transport: any SyncTransport) async throws {
    let request = SyncRequest(.replicas)
    guard case .replicas(let list) = try await ReplicaAnswer(try await transport.send(request), to: request) else {
      throw SyncFailure("the server answers as to another request")
    }
    self = list
  }

  init(_ bytes: [UInt8]) throws {
    guard let text = String(validating: bytes, as: UTF8.self), case .object(let members)? = JSONScanner.value(in: text),
      case .list(let replicas)? = members.first(where: { $0.name == "replicas" })?.value
    else { throw SyncFailure("the answer is not that of a server of replicas") }
    rows = try replicas.map { replica in
      guard case .object(let members) = replica else { throw SyncFailure("a replica in the answer is no object") }
      return try Self.columns.map { name in
        switch members.first(where: { $0.name == name })?.value {
        case .text(let text)?: .text(text)
        case .integer(let number)?: .integer(number)
        case .null?: .null
        default: throw SyncFailure("a replica in the answer has no “\(name)”")
        }
      }
    }
  }
}
