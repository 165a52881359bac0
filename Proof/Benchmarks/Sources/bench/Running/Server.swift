import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// `userserver --replicas` as a process, which ends with this object.
final class Server {
  let address: String
  private let server = Process()

  init(_ program: String, at path: String) throws {
    let pipe = Pipe()
    server.executableURL = URL(filePath: program)
    server.arguments = ["--db", path, "--replicas", "--no-token", "--listen", "127.0.0.1:0", "--max-streams", "2000"]
    server.standardOutput = pipe
    server.standardError = FileHandle.nullDevice
    try server.run()
    // One line: userserver: http://127.0.0.1:PORT/
    let line = String(decoding: pipe.fileHandleForReading.availableData, as: UTF8.self)
    guard let start = line.range(of: "http://"), let end = line[start.upperBound...].firstIndex(of: "/") else {
      throw WorkNotDone(description: "userserver printed “\(line)”")
    }
    address = String(line[start.lowerBound..<end])
  }

  deinit {
    server.terminate()
    server.waitUntilExit()
  }

  var process: Int32 { server.processIdentifier }

  /// Waits until so many streams are open, of which each replica that waits is one.
  func waitForStreams(_ count: Int) throws {
    struct Status: Decodable { let streams: Int }
    guard let url = URL(string: address + "/about") else { return }
    for _ in 0..<1_000 {
      if try JSONDecoder().decode(Status.self, from: Data(contentsOf: url)).streams == count { return }
      Thread.sleep(forTimeInterval: 0.01)
    }
    throw WorkNotDone(description: "\(count) replicas do not wait")
  }

  /// Sends the same request `count` times on connections of their own, and returns when all answers were read.
  func ask(_ target: String, count: Int) throws {
    let connections = try (0..<count).map { _ in try Connection(address) }
    for connection in connections { try connection.send(target) }
    for connection in connections { try connection.receive() }
  }
}

/// One request on a connection of its own.
private final class Connection {
  private let handle: Int32
  private let host: Substring

  init(_ address: String) throws {
    host = address.dropFirst("http://".count)
    handle = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var name = sockaddr_in()
    name.sin_family = sa_family_t(AF_INET)
    name.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    name.sin_port = UInt16(address.split(separator: ":").last ?? "")?.bigEndian ?? 0
    let status = withUnsafePointer(to: &name) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(handle, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    try expect(Int(status), 0, "connect")
  }

  deinit { close(handle) }

  func send(_ target: String) throws {
    let request = Array("GET \(target) HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n".utf8)
    try expect(write(handle, request, request.count), request.count, "bytes sent")
  }

  func receive() throws {
    var (answer, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 1 << 16))
    while true {
      let count = read(handle, &buffer, buffer.count)
      if count <= 0 { break }
      answer += buffer[..<count]
    }
    let text = String(decoding: answer, as: UTF8.self)
    if !text.hasPrefix("HTTP/1.1 200") { throw WorkNotDone(description: "the server answered \(text.prefix(300))") }
    try expect(text.components(separatedBy: #""op":"set""#).count - 1, 100, "sets")
  }
}

/// The memory of processes.
enum Memory {
  static func resident(of process: Int32) throws -> Int { try field("VmRSS", of: process) }
  static func peak(of process: Int32) throws -> Int { try field("VmHWM", of: process) }

  private static func field(_ name: String, of process: Int32) throws -> Int {
    let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix(name + ":") }
    let number = line?.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) }
    return (number ?? 0) * 1_024
  }
}
