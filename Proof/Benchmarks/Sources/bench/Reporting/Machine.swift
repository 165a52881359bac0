import CSQLiteFloor
import Foundation

/// The machine on which the figures were measured.
struct Machine: Encodable {
  var kind = "machine"
  let date: String
  let processor: String
  let cores: Int
  let memory: String
  let system: String
  let swift: String
  let sqlite: String
  let fileSystem: String
  let load: String
  let commit: String
  let peers: String
  let settings: String

  init(folder: URL, effort: Effort) {
    date = Date.now.formatted(.iso8601)
    processor = Self.field("model name", of: "/proc/cpuinfo") ?? "unknown"
    cores = ProcessInfo.processInfo.activeProcessorCount
    memory = Outcome.Unit.bytes.text(Double(ProcessInfo.processInfo.physicalMemory))
    system = (try? Program.output("uname", "-srm")) ?? "unknown"
    swift = (try? Program.output("swift", "--version"))?.split(separator: "\n").first.map(String.init) ?? "unknown"
    sqlite = String(cString: sqlite3_libversion())
    fileSystem =
      (try? Program.output("stat", "-f", "-c", "%T", folder.path)).map { "\($0) (\(folder.path))" } ?? "unknown"
    load =
      (try? String(contentsOfFile: "/proc/loadavg", encoding: .utf8))?.split(separator: " ").first.map(String.init)
      ?? "?"
    commit =
      (try? Program.output("git", "-C", Checkout.benchmarks.path, "describe", "--always", "--dirty")) ?? "unknown"
    peers = Self.versions(of: ["grdb.swift", "opencombine"])
    settings =
      "page size \(Setting.pageSize), WAL, checkpoint at 1,000 pages, "
      + "\(effort.rounds) rounds, turns of \(Outcome.Unit.nanoseconds.text(effort.turn.nanoseconds))\(effort.isQuick ? " (quick)" : "")"
  }

  var text: String {
    let lines = [
      ("date", date), ("processor", "\(processor), \(cores) cores, \(memory)"), ("system", system), ("Swift", swift),
      ("SQLite", sqlite), ("files on", fileSystem), ("load at start", load), ("UserStore", commit), ("peers", peers),
      ("settings", settings),
    ]
    return lines.map { "\($0): \($1)\n" }.joined()
  }

  private static func field(_ name: String, of path: String) -> String? {
    guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return nil }
    let line = text.split(separator: "\n").first { $0.hasPrefix(name) }
    return line?.split(separator: ":").last.map { $0.trimmingCharacters(in: .whitespaces) }
  }

  /// The versions that the package manager resolved.
  private static func versions(of packages: [String]) -> String {
    struct Resolved: Decodable {
      struct Pin: Decodable {
        struct State: Decodable { let version: String? }
        let identity: String
        let state: State
      }
      let pins: [Pin]
    }
    guard let data = try? Data(contentsOf: Checkout.benchmarks.appending(path: "Package.resolved")),
      let resolved = try? JSONDecoder().decode(Resolved.self, from: data)
    else { return "unknown (no Package.resolved)" }
    let pins = resolved.pins.filter { packages.contains($0.identity) }
    return pins.map { "\($0.identity) \($0.state.version ?? "?")" }.joined(separator: ", ")
  }
}
