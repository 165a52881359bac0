import Foundation
public import UserStore
public import UserStoreSync

/// The way to a server of replicas by HTTP: with Foundation's `URLSession`, on Linux with libcurl.
///
///     let server = try SyncServer("https://users.example.com", token: .file("/etc/app/token"))
///     let replica = try Replica(of: store, from: server, users: .all, writes: .none)
///
/// The system's proxies and certificates are used; on Linux, those of the variables that curl knows, such as `https_proxy`. A
/// redirection is not followed, because the token would go to another server.
public final class SyncServer: SyncTransport {
  /// The token that the server asks for.
  public enum Token: Sendable {
    case text(String)
    /// The first line of a file, which is read before each request: another token needs no restart.
    case file(String)
  }

  /// The address of the server.
  public let address: String
  private let base: String
  private let token: Token?
  private let session = WebSession()

  /// Creates the way to a server; nothing is sent yet.
  ///
  /// - Parameters:
  ///   - address: The address of the server, with its scheme: `https://users.example.com`. A path before `/sync` is kept.
  ///   - token: The token; nil for a server without.
  /// - Throws: `StoreError.Code.badValue` for another text.
  public init(_ address: String, token: Token? = nil) throws(StoreError) {
    guard let url = URL(string: address), let scheme = url.scheme?.lowercased(), ["http", "https"].contains(scheme),
      url.host?.isEmpty == false, url.query == nil, url.fragment == nil, url.user == nil
    else {
      throw StoreError(
        .badValue, "“\(address.prefix(200))” is not the address of a server, such as https://users.example.com")
    }
    self.address = address
    base = address.hasSuffix("/") ? String(address.dropLast()) : address
    self.token = token
  }

  /// Sends a request once.
  ///
  /// - Throws: An error that says why there is no answer, or why the file of the token cannot be read.
  public func send(_ request: SyncRequest) async throws -> SyncResponse {
    var headers = [("User-Agent", "UserStore/\(UserStore.version)")]
    if let token = try text(of: token) { headers.append(("Authorization", "Bearer \(token)")) }
    if let replica = request.replica { headers.append((SyncRequest.replicaHeader, replica)) }
    if request.body != nil { headers.append(("Content-Type", request.contentType)) }
    let query = request.query.isEmpty ? "" : "?" + request.query
    return try await session.send(Message(url: base + request.path + query, headers: headers, body: request.body))
  }

  private func text(of token: Token?) throws -> String? {
    let lines: String
    switch token {
    case nil: return nil
    case .text(let text): lines = text
    case .file(let path):
      guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
        throw HTTPFailure(description: "the file with the token, \(path), cannot be read")
      }
      lines = text
    }
    return lines.split(whereSeparator: \.isNewline).first.map { $0.trimmingCharacters(in: .whitespaces) }
  }
}
