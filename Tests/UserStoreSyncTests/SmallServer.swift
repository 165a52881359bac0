import Foundation
import UserStore

@testable import UserStoreSync

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A server of HTTP for one request at a time: what it answers is a closure.
final class SmallServer: Sendable {
  struct Request: Sendable {
    let method: String
    let target: String
    let headers: [String]
    let body: [UInt8]

    var path: String { String(target.prefix { $0 != "?" }) }
    var query: String { String(target.drop { $0 != "?" }.dropFirst()) }
  }

  /// The whole answer, from its first line on; nil to end the connection without one.
  ///
  /// The connection ends after an answer without the header `Keep: yes`.
  typealias Answer = @Sendable (Request) async -> [UInt8]?

  let port: UInt16
  private let listener: Int32

  init(_ answer: @escaping Answer) throws {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe bind(listener, $0, length) == 0 && listen(listener, 16) == 0 && getsockname(listener, $0, &length) == 0
      }
    }
    guard isBound else { throw Wrong("no port") }
    self.listener = listener
    port = UInt16(bigEndian: address.sin_port)
    Thread.detachNewThread {
      while true {
        let connection = accept(listener, nil, nil)
        if connection < 0 { return }
        Task {
          while let request = Self.read(connection), let bytes = await answer(request) {
            _ = unsafe bytes.withUnsafeBytes {
              unsafe send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if bytes.firstRange(of: Array("\r\nKeep: yes\r\n".utf8)) == nil { break }
          }
          close(connection)
        }
      }
    }
  }

  deinit {
    shutdown(listener, Int32(SHUT_RDWR))
    close(listener)
  }

  var address: String { "http://127.0.0.1:\(port)" }

  private static func read(_ connection: Int32) -> Request? {
    var bytes: [UInt8] = []
    while true {
      var buffer = [UInt8](repeating: 0, count: 65_536)
      let count = unsafe recv(connection, &buffer, buffer.count, 0)
      if count <= 0 { return nil }
      bytes += buffer[..<count]
      guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { continue }
      let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
      let length = lines.compactMap { line -> Int? in
        line.lowercased().hasPrefix("content-length:")
          ? Int(line.dropFirst(15).trimmingCharacters(in: .whitespaces)) : nil
      }.first
      guard bytes.count - end.upperBound >= length ?? 0 else { continue }
      let words = lines[0].split(separator: " ").map(String.init)
      return Request(
        method: words[0], target: words[1], headers: Array(lines.dropFirst()), body: Array(bytes[end.upperBound...]))
    }
  }

  static func answer(_ status: String, _ headers: [String] = [], _ body: [UInt8] = []) -> [UInt8] {
    let head = ["HTTP/1.1 \(status)"] + headers + ["Content-Length: \(body.count)", "Connection: close", "", ""]
    return Array(head.joined(separator: "\r\n").utf8) + body
  }

  /// Answers as userserver does.
  static func serving(_ service: SyncService) -> Answer {
    { request in
      do {
        let received = try SyncRequest(
          path: request.path, query: request.query, body: request.body,
          replica: request.headers.first { $0.hasPrefix("Userstore-Replica: ") }.map { String($0.dropFirst(19)) })
        return answer("200 OK", [], try await service.answer(received).body)
      } catch let error as StoreError {
        return answer("\(SyncResponse(error).status) Problem", [], [])
      } catch { return nil }
    }
  }
}
