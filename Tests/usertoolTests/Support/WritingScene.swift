import Foundation
import TestSupport
import Testing

/// A database that another program has open, with its -wal and -shm files, and a folder of its own for each kind of path.
final class WritingScene {
  let workspace: Workspace
  private let place: WritingPlace
  private let holder: Child
  private let cursor: String

  init(_ place: WritingPlace) throws {
    self.place = place
    workspace = try Workspace()
    try workspace.run("add", "NIX")
    let lines = try workspace.run("log", "--format", "jsonl")
    cursor = try #require(lines.lines.last.map { try Line.decode($0).cursor } ?? nil, "\(lines)")
    try FileManager.default.copyItem(atPath: workspace.database, toPath: workspace.database + ".closed")
    try workspace.write(Data("{\"name\": \"B\"}\n".utf8), to: "users.jsonl")
    try workspace.write(Data("{\"wrong\"\n".utf8), to: "bad.jsonl")
    // The commit stays in the -wal file.
    holder = try workspace.python(
      "db.execute(\"UPDATE users SET name = 'ZOE'\"); print('open', flush=True); sys.stdin.read()")
    _ = holder.output.next()
  }

  deinit {
    holder.endInput()
    _ = holder.wait()
  }

  /// Runs the command on a path of a kind; returns nil if this process may not create such a path.
  ///
  /// Expects that a command that must not write changes nothing, nor a dry run.
  func run(_ kind: PathKind, isDryRun: Bool = false) throws -> (
    outcome: Workspace.Outcome, folder: String, path: String
  )? {
    let folder = workspace.folder + "/\(kind)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    let content = place == .cursorFile ? cursor + "\n" : "before\n"
    guard let path = try kind.make(in: folder, beside: workspace.database, holding: content) else { return nil }
    let reader = kind == .pipe && place.isExport ? try workspace.start(["cat", path]) : nil
    // A dry run may write to the database what it then rolls back.
    let hidden = isDryRun ? "users.db" : "-"
    let before = try Self.files(in: workspace.folder, notThoseOf: hidden)
    let outcome = try run(kind, path, isDryRun ? ["--dry-run"] : [])
    let after = try Self.files(in: workspace.folder, notThoseOf: hidden)
    // Nobody will open the pipe any more.
    if outcome.status != 0 || after != before { reader?.send(SIGKILL) }
    if let reader { #expect(reader.output.rest().contains(UInt8(ascii: "Z")), "\(place) \(kind)") }
    if isDryRun || !place.writes(kind) || reader != nil { #expect(after == before, "\(place) \(kind): \(outcome)") }
    return (outcome, folder, path)
  }

  private func run(_ kind: PathKind, _ path: String, _ options: [String]) throws -> Workspace.Outcome {
    var command = [Workspace.tool] + place.arguments(path, workspace.database, workspace.folder) + options
    if kind == .removedFolder {
      let folder = workspace.folder + "/\(kind)"
      command = ["sh", "-c", "cd \"$0\" && rmdir \"$0\" && mkdir \"$0\" && exec \"$@\"", folder] + command
    }
    if place != .cursorFile { return try workspace.finish(command, [:], "") }
    let child = try workspace.start(command)
    let first = child.errors.next() ?? ""
    // It does not end on its own.
    if first.hasPrefix("watching") { child.send(SIGINT) }
    let output = String(decoding: child.output.rest(), as: UTF8.self)
    let errors = first + "\n" + String(decoding: child.errors.rest(), as: UTF8.self)
    let status = child.wait()
    return Workspace.Outcome(status: status == 130 ? 0 : status, output: output, errors: errors)
  }

  /// The database is whole, and has what the other program wrote.
  func isUnharmed() throws -> Bool {
    try workspace.sqlite("SELECT name FROM users WHERE id = 1; PRAGMA integrity_check").output == "ZOE\nok\n"
  }

  /// Every file below a folder with its type, its inode, and its content; but not the content of the shared memory, in which
  /// every reader writes.
  private static func files(in folder: String, notThoseOf hidden: String) throws -> [String: String] {
    var files: [String: String] = [:]
    for name in try FileManager.default.subpathsOfDirectory(atPath: folder) where !name.hasPrefix(hidden) {
      let path = folder + "/" + name
      var status = stat()
      try #require(unsafe lstat(path, &status) == 0)
      let type = status.st_mode & S_IFMT
      let isShared = path.hasSuffix("-shm") || name.hasSuffix("other-name")
      let bytes = type == S_IFREG && !isShared ? FileManager.default.contents(atPath: path) : nil
      files[name] = "\(type) \(type == S_IFDIR ? 0 : status.st_ino) \(bytes?.base64EncodedString() ?? "")"
    }
    return files
  }
}
