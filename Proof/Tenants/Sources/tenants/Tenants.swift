import Foundation
import UserStore

/// Opens every store of a folder in one process, and prints what they cost as a row of a table.
@main struct Tenants {
  static func main() throws {
    guard CommandLine.arguments.count == 3, ["create", "watched", "unwatched"].contains(CommandLine.arguments[1]) else {
      print("usage: tenants create FILE | watched FOLDER | unwatched FOLDER")
      exit(64)
    }
    let (mode, path) = (CommandLine.arguments[1], CommandLine.arguments[2])
    if mode == "create" {
      try UserStore(path: path).write { try $0.add(name: "NIX") }
    } else {
      let names = try FileManager.default.contentsOfDirectory(atPath: path)
      print(try Tenants(watching: mode == "watched").row(names.map { "\(path)/\($0)" }))
    }
  }

  private let configuration: UserStore.Configuration

  private init(watching: Bool) {
    var configuration = UserStore.Configuration()
    configuration.watchesOtherProcesses = watching
    self.configuration = configuration
  }

  private func row(_ paths: [String]) throws -> String {
    // What the first store of a process costs, such as SQLite's own memory, is not a cost of each.
    let first = try UserStore(path: paths[0], configuration: configuration)
    let before = Usage()
    var stores: [UserStore] = []
    let opening = try times(paths.dropFirst()) { path in
      stores.append(try UserStore(path: path, configuration: configuration))
    }
    let opened = Usage()
    let writing = try times(stores) { store in
      _ = try store.read { try $0.count() }
      try store.write { try $0.rename(UserStore.User.ID(1), to: "Zoë") }
    }
    let used = Usage()
    Thread.sleep(forTimeInterval: 10)
    let idle = (Usage().processor - used.processor) / 10
    let events = stores.count { $0.hasFileEvents }
    let closing = times(stores) { store in store.close() }
    first.close()
    let cells = [
      "\(paths.count)", configuration.watchesOtherProcesses ? "yes, \(events) by events" : "no", opening, writing,
      closing, opened.each(since: before, stores.count), used.each(since: before, stores.count),
      String(format: "%.1f %%", idle * 100),
    ]
    return "| " + cells.joined(separator: " | ") + " |"
  }

  /// Returns the median of the time of a step, and its mean processor time, which other load hardly affects.
  private func times<Elements: Collection>(
    _ elements: Elements, _ step: (Elements.Element) throws -> Void
  ) rethrows -> String {
    let before = Usage().processor
    let sorted = try elements.map { element in try ContinuousClock().measure { try step(element) } }.sorted()
    let processor = (Usage().processor - before) / Double(elements.count)
    return String(format: "%.2f ms, %.2f ms", sorted[sorted.count / 2] / .milliseconds(1), processor * 1_000)
  }
}

/// What the process uses.
private struct Usage {
  let kilobytes = Self.status("VmRSS:")
  let threads = Self.status("Threads:")
  let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0
  /// Seconds of processor time, of all threads.
  let processor = Double(clock()) / Double(CLOCKS_PER_SEC)

  func each(since before: Usage, _ count: Int) -> String {
    let memory = Double(kilobytes - before.kilobytes) / Double(count)
    let descriptors = Double(descriptors - before.descriptors) / Double(count)
    let threads = Double(threads - before.threads) / Double(count)
    return String(format: "%.0f kB, %.1f, %.1f", memory, descriptors, threads)
  }

  private static func status(_ field: String) -> Int {
    let text = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = text.split(separator: "\n").first { $0.hasPrefix(field) }
    return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
  }
}
