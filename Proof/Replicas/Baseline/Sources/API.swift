import Foundation
import GRDB

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A value as JSON and as SQLite have it.
enum Value: Codable, Sendable {
  case null
  case integer(Int64)
  case real(Double)
  case text(String)

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let number = try? container.decode(Int64.self) {
      self = .integer(number)
    } else if let number = try? container.decode(Double.self) {
      self = .real(number)
    } else {
      self = .text(try container.decode(String.self))
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .integer(let number): try container.encode(number)
    case .real(let number): try container.encode(number)
    case .text(let text): try container.encode(text)
    }
  }

  init(_ value: DatabaseValue) {
    switch value.storage {
    case .int64(let number): self = .integer(number)
    case .double(let number): self = .real(number)
    case .string(let text): self = .text(text)
    default: self = .null
    }
  }

  var stored: DatabaseValue {
    switch self {
    case .null: .null
    case .integer(let number): number.databaseValue
    case .real(let number): number.databaseValue
    case .text(let text): text.databaseValue
    }
  }
}

struct Change: Decodable, Sendable {
  let op: String
  let user: Int64
  let attribute: String
  let new: Value?
}

struct ChangePage: Decodable, Sendable {
  let changes: [Change]
  let cursor: String
}

struct UserPage: Decodable, Sendable {
  let users: [[String: Value]]
  let cursor: String
  let next: String?
}

struct Failure: Error {
  let status: Int
}

/// The HTTP API of userserver.
struct API: Sendable {
  let address: String
  let token: String

  private func request(_ path: String, method: String = "GET", body: Data? = nil, timeout: TimeInterval = 10)
    async throws -> (Data, Int)
  {
    var request = URLRequest(url: URL(string: address + path)!, timeoutInterval: timeout)
    request.httpMethod = method
    request.httpBody = body
    request.setValue("Bearer " + token, forHTTPHeaderField: "Authorization")
    if body != nil { request.setValue("application/json", forHTTPHeaderField: "Content-Type") }
    let (data, response) = try await URLSession.shared.data(for: request)
    let status = (response as! HTTPURLResponse).statusCode
    if status >= 500 || status == 401 { throw Failure(status: status) }
    return (data, status)
  }

  func set(_ attribute: String, of user: Int64, to value: Value) async throws -> Int {
    let body = try JSONEncoder().encode(["set": [attribute: value]])
    return try await request("/users/\(user)", method: "PATCH", body: body).1
  }

  /// The changes after a cursor, for which it waits; nil if the log does not go on from there.
  func changes(after cursor: String) async throws -> ChangePage? {
    let (data, status) = try await request("/changes?after=\(cursor)&wait=10", timeout: 15)
    if status == 409 || status == 410 { return nil }
    if status >= 400 { throw Failure(status: status) }
    return try JSONDecoder().decode(ChangePage.self, from: data)
  }

  /// All users, and the cursor after which their changes follow: that of the first page.
  func users() async throws -> (users: [[String: Value]], cursor: String) {
    var users: [[String: Value]] = []
    var (cursor, next): (String?, String?)
    repeat {
      let (data, status) = try await request("/users?limit=500" + (next.map { "&after=\($0)" } ?? ""))
      if status >= 400 { throw Failure(status: status) }
      let page = try JSONDecoder().decode(UserPage.self, from: data)
      users += page.users
      cursor = cursor ?? page.cursor
      next = page.next
    } while next != nil
    return (users, cursor!)
  }
}
