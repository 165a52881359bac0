import Foundation
import Testing

/// The system calls with which a command changed names and lengths of files, or synced files.
struct Trace {
  /// The calls: `sync PATH`, `mkdir PATH`, `rename PATH`, `link PATH`, `cut PATH`, with paths relative to the folder.
  let calls: [String]

  /// Runs the tool, which must succeed.
  init(_ arguments: [String], in workspace: Workspace) throws {
    let file = workspace.folder + "/trace"
    defer { try? FileManager.default.removeItem(atPath: file) }
    let tracer = [
      "strace", "-f", "--seccomp-bpf", "-qq", "-y", "-s", "4096", "-o", file, "-e",
      "trace=/mkdir|rename|link|truncate|sync",
    ]
    let outcome = try workspace.finish(tracer + [Workspace.tool] + arguments)
    try #require(outcome.status == 0, "\(outcome)")
    let folder = try workspace.resolvedFolder
    calls = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n").compactMap { line in
      Self.call(String(line), folder: folder)
    }
  }

  /// The name of the call and the last path in a line such as `12 rename("/a", "/b") = 0`.
  private static func call(_ line: String, folder: String) -> String? {
    guard line.hasSuffix("= 0"), let end = line.firstIndex(of: "(") else { return nil }
    let name = line[..<end].split(separator: " ").last ?? ""
    let kinds = [
      "mkdir": "mkdir", "rename": "rename", "link": "link", "ftruncate": "cut", "fsync": "sync", "fdatasync": "sync",
    ]
    let kind = kinds.first { name == $0.key || name == $0.key + "at" || name == $0.key + "at2" }?.value
    let paths = line.split { "\"<>".contains($0) }.map(String.init).filter { $0.hasPrefix(folder) }
    guard let kind, let path = paths.last else { return nil }
    return kind + " " + (path == folder ? "." : String(path.dropFirst(folder.count + 1)))
  }

  /// Whether a call follows another, which must exist.
  func has(_ later: String, after earlier: String) -> Bool {
    guard let start = calls.lastIndex(of: earlier) else { return false }
    return calls[start...].contains(later)
  }
}

extension Workspace {
  /// The folder's path without symbolic links, as in the trace.
  fileprivate var resolvedFolder: String {
    get throws { URL(fileURLWithPath: folder).resolvingSymlinksInPath().path }
  }
}
