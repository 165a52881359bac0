import Foundation
import Synchronization

@testable import UserStorePostgres

/// A network between a client and the server, which a test cuts.
///
/// Each connection is forwarded as it is, until a cut is armed: it applies to what a client sends next.
final class Relay: Sendable {
  enum Cut: Sendable {
    /// The server receives only the first bytes, and then both connections end.
    case afterBytes(Int)
    /// The server receives everything, and both connections end before its reply.
    case beforeReply
    /// The server receives everything, and both connections end when its reply has come, of which the client receives only the
    /// first bytes.
    case inReply(afterBytes: Int)
    /// The client's connection ends; the server receives everything when `release` is called.
    case held
    /// Nothing is forwarded any more, also what the client sends now, and everything is acknowledged.
    case silentRequest
    /// The server receives what the client sends now; then nothing is forwarded any more, and everything is acknowledged.
    case silentReply
  }

  /// One connection through the relay.
  private final class Link: Sendable {
    let state = Mutex((isSilent: false, listens: false))

    var isSilent: Bool { state.withLock { $0.isSilent } }
    func silence() { state.withLock { $0.isSilent = true } }
  }

  private struct State {
    var cut: Cut?
    var requestsBefore = 0
    var sentBytes = 0
    var repliedBytes = 0
    var held: (server: Int32, bytes: [UInt8])?
    var refuses = false
    var refusals = 0
    var isSilent = false
    var links: [Link] = []
  }

  let port: UInt16
  private let listener: Int32
  private let state = Mutex(State())

  init() throws {
    (listener, port) = try listenOnLoopback()
    start { relay in
      while true {
        let client = Foundation.accept(relay.listener, nil, nil)
        guard client >= 0 else { return }
        let isRefused = relay.state.withLock { state in
          if state.refuses { state.refusals += 1 }
          return state.refuses
        }
        guard !isRefused, let server = relay.connect() else {
          close(client)
          continue
        }
        let link = relay.addLink()
        relay.start { relay in relay.forward(from: client, to: server, link) }
        relay.start { relay in relay.reply(from: server, to: client, link) }
      }
    }
  }

  /// The address of a database through the relay.
  func address(_ database: String) -> String {
    "host=127.0.0.1 port=\(port) user=postgres sslmode=disable gssencmode=disable dbname=\(database)"
  }

  /// Applies a cut to what a client sends next, or after so many requests.
  func arm(_ cut: Cut, afterRequests count: Int = 0) {
    state.withLock { ($0.cut, $0.sentBytes, $0.repliedBytes, $0.requestsBefore) = (cut, 0, 0, count) }
  }

  /// Refuses new connections, or accepts them again.
  func refuse(_ refuses: Bool = true) { state.withLock { $0.refuses = refuses } }

  /// Accepts new connections again.
  func accept() { state.withLock { $0.refuses = false } }

  /// Acknowledges everything and forwards nothing, on all connections so far and, until it is called with false, on new ones.
  func silence(_ isSilent: Bool = true) {
    let links = state.withLock { state in
      state.isSilent = isSilent
      return state.links
    }
    if isSilent { for link in links { link.silence() } }
  }

  /// Does so on the connections so far that have sent LISTEN.
  func silenceListeners() {
    for link in state.withLock({ $0.links }) where link.state.withLock({ $0.listens }) { link.silence() }
  }

  /// The number of connections that have sent LISTEN.
  var listeners: Int { state.withLock { $0.links }.count { $0.state.withLock { $0.listens } } }

  /// The number of connections that were accepted.
  var connections: Int { state.withLock { $0.links.count } }

  /// Whether a cut is armed that was not made.
  var isArmed: Bool { state.withLock { $0.cut != nil } }

  private func addLink() -> Link {
    let link = Link()
    state.withLock { state in
      state.links.append(link)
      if state.isSilent { link.silence() }
    }
    return link
  }

  /// The number of connections that were refused.
  var refusals: Int { state.withLock { $0.refusals } }

  /// The number of bytes that the client sent at once where a cut was armed.
  var sentBytes: Int { state.withLock { $0.sentBytes } }

  /// The number of bytes that the server replied at once where a cut in the reply was armed.
  var repliedBytes: Int { state.withLock { $0.repliedBytes } }

  /// Forwards what is held, and ends the connection to the server.
  func release() {
    guard let held = state.withLock({ $0.held }) else { return }
    write(held.bytes, to: held.server)
    shutdown(held.server, Int32(SHUT_WR))
  }

  func stop() { shutdown(listener, Int32(SHUT_RDWR)) }

  private func start(_ body: @escaping @Sendable (Relay) -> Void) {
    Thread { body(self) }.start()
  }

  private func forward(from client: Int32, to server: Int32, _ link: Link) {
    while let bytes = read(client) {
      if link.isSilent { continue }
      if bytes.contains(Array("LISTEN".utf8)) { link.state.withLock { $0.listens = true } }
      let cut = state.withLock { state in
        if state.cut != nil, state.requestsBefore > 0 {
          state.requestsBefore -= 1
          return Cut?.none
        }
        if state.cut != nil { state.sentBytes = bytes.count }
        // The reply is cut, too.
        if case .inReply? = state.cut { return Cut?.none }
        defer { state.cut = nil }
        return state.cut
      }
      switch cut {
      case .afterBytes(let count):
        write(Array(bytes.prefix(count)), to: server)
        end(client, server)
      case .beforeReply:
        // The client first, so that it receives nothing.
        shutdown(client, Int32(SHUT_RDWR))
        write(bytes, to: server)
        shutdown(server, Int32(SHUT_WR))
      case .held:
        state.withLock { $0.held = (server, bytes) }
        shutdown(client, Int32(SHUT_RDWR))
        return
      case .silentRequest: link.silence()
      case .silentReply:
        link.silence()
        write(bytes, to: server)
      case .inReply, nil: write(bytes, to: server)
      }
    }
    shutdown(server, Int32(SHUT_WR))
  }

  private func reply(from server: Int32, to client: Int32, _ link: Link) {
    while let bytes = read(server) {
      if link.isSilent { continue }
      let count = state.withLock { state -> Int? in
        guard case .inReply(let count)? = state.cut, state.sentBytes > 0 else { return nil }
        (state.cut, state.repliedBytes) = (nil, bytes.count)
        return count
      }
      write(Array(bytes.prefix(count ?? bytes.count)), to: client)
      if count != nil { end(client, server) }
    }
    // The end of a connection is not delivered either.
    if !link.isSilent { shutdown(client, Int32(SHUT_RDWR)) }
  }

  private func end(_ client: Int32, _ server: Int32) {
    shutdown(client, Int32(SHUT_RDWR))
    shutdown(server, Int32(SHUT_RDWR))
  }

  private func read(_ descriptor: Int32) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: 1 << 16)
    let count = unsafe recv(descriptor, &bytes, bytes.count, 0)
    return count > 0 ? Array(bytes.prefix(count)) : nil
  }

  private func write(_ bytes: [UInt8], to descriptor: Int32) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { bytes in
        unsafe send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }

  private func connect() -> Int32? {
    let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = loopback(port: UInt16(Server.port) ?? 0)
    let code = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        unsafe Foundation.connect(server, address, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    return code == 0 ? server : nil
  }
}

func loopback(port: UInt16) -> sockaddr_in {
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_port = port.bigEndian
  address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
  return address
}

/// Opens a socket that accepts connections on the loopback's address, on a port of the system's choice.
func listenOnLoopback() throws -> (descriptor: Int32, port: UInt16) {
  let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
  var address = loopback(port: 0)
  var size = socklen_t(MemoryLayout<sockaddr_in>.size)
  let code = unsafe withUnsafeMutablePointer(to: &address) { pointer in
    unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
      unsafe bind(descriptor, address, size) | listen(descriptor, 8) | getsockname(descriptor, address, &size)
    }
  }
  guard code == 0 else { throw Server.Failed(text: "no listener") }
  return (descriptor, UInt16(bigEndian: address.sin_port))
}
