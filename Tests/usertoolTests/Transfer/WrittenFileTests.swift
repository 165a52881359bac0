import Foundation
import TestSupport
import Testing

/// Every place where the tool writes a file, with every kind of path.
///
/// All kinds with `USERSTORE_RUNS=50`; otherwise a third of them at each place, which the seed chooses.
@Suite(.bounded, .serialized) struct `Files that the tool writes` {
  private func kinds(_ place: WritingPlace) -> [PathKind] {
    var random = SplitMix64(seed: Seed.base &+ UInt64(WritingPlace.allCases.firstIndex(of: place) ?? 0))
    return place.kinds.filter { _ in Repetitions.count >= 50 || random.oneIn(3) }
  }

  @Test(arguments: WritingPlace.allCases)
  func `no path harms a database, and only a regular file is replaced`(_ place: WritingPlace) throws {
    let scene = try WritingScene(place)
    for kind in kinds(place) {
      guard let (outcome, folder, path) = try scene.run(kind) else { continue }
      let name = "\(place) \(kind): \(outcome)"
      if place.writes(kind) {
        #expect(outcome.status == 0, "\(name)")
        try expectWritten(place, kind, folder, path)
      } else {
        #expect(outcome.status != 0 && outcome.errors.hasPrefix("usertool: error: "), "\(name)")
        // Only a file can be replaced with --force.
        let isFile = [.file, .linkToFile].contains(kind)
        #expect(!outcome.errors.contains("--force") || isFile, "\(name)")
        #expect(outcome.errors.split(separator: "\n").count <= 2, "\(name)")
      }
      #expect(try scene.isUnharmed(), "\(name)")
      try FileManager.default.removeItem(atPath: folder)
    }
    #expect(try scene.workspace.run("check").status == 0)
  }

  private func expectWritten(_ place: WritingPlace, _ kind: PathKind, _ folder: String, _ path: String) throws {
    // The pipe's reader has got everything, and the device keeps nothing.
    if [.pipe, .device].contains(kind) { return }
    let content = FileManager.default.contents(atPath: path) ?? Data()
    #expect(content != Data("before\n".utf8) && !content.isEmpty, "\(place) \(kind)")
    if place.makesDatabase { #expect(content.starts(with: Data("SQLite format 3".utf8)), "\(place) \(kind)") }
    let isLink = (try? FileManager.default.destinationOfSymbolicLink(atPath: path)) != nil
    #expect(isLink == [.danglingLink, .linkToFile, .linkToDatabase].contains(kind), "\(place) \(kind)")
    let drafts = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".partial") }
    #expect(drafts.isEmpty, "\(place) \(kind)")
  }

  /// The file has what was written before; what follows must be there, too.
  @Test(arguments: WritingPlace.allCases)
  func `a file to which the output is redirected is not replaced, by whatever name`(_ place: WritingPlace) throws {
    let scene = try WritingScene(place)
    let folder = scene.workspace.folder
    let script = #"exec >>"$0" 2>&1 3>&1; echo before; "$@"; status=$?; echo after; exit $status"#
    let names = ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "output", "/dev/stderr", "/dev/fd/3"]
    for (number, name) in names.enumerated() {
      let output = "\(folder)/output-\(number)"
      let arguments = place.arguments(name == "output" ? output : name, scene.workspace.database, folder)
      let command = [Workspace.tool] + arguments + (place == .cursorFile ? ["--timeout", "1ms"] : [])
      let outcome = try scene.workspace.finish(["sh", "-c", script, output] + command)
      let content = String(decoding: scene.workspace.bytes(of: "output-\(number)") ?? Data(), as: UTF8.self)
      #expect(content.hasPrefix("before\n") && content.hasSuffix("after\n"), "\(place) \(name): \(content)")
      #expect((outcome.status == 0) == place.isExport, "\(place) \(name): \(outcome) \(content)")
      #expect(content.contains("ZOE") == place.isExport, "\(place) \(name): \(content)")
      #expect(!content.contains("--force"), "\(place) \(name): \(content)")
    }
    #expect(try scene.isUnharmed())
  }

  @Test(arguments: [WritingPlace.initialize, .add, .importInto, .restoreInto, .backup, .rejects])
  func `a dry run says the same, and writes nothing`(_ place: WritingPlace) throws {
    let scene = try WritingScene(place)
    // A database with two names can be read, as by the dry run of init.
    for kind in kinds(place) where kind != .hardLinkOfDatabase {
      guard let (outcome, folder, _) = try scene.run(kind, isDryRun: true) else { continue }
      #expect((outcome.status == 0) == place.writes(kind), "\(place) \(kind): \(outcome)")
      try FileManager.default.removeItem(atPath: folder)
    }
  }
}
