import ArgumentParser
import UserStore

/// `usertool compact`.
struct CompactCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "compact",
    abstract: "Forget old changes, and print how many.",
    usage: "usertool compact [<options>]",
    discussion: """
      Examples:
        usertool compact --older-than 30d
        usertool compact --keep 10000 --max-size 100M
        usertool compact --older-than 0s --dry-run

      What is beyond one of the limits is forgotten, in whole writes; without any, what is older than 30 days, or \
      beyond a million rows or 256 MiB, but for the newest 10,000 rows. Writing commands forget the same, a little \
      each time. A write in which a limit lies is forgotten when 10,000 rows have followed it. The records themselves \
      stay. A watch or a cursor that needs deleted changes starts from the present state. What a named consumer \
      still needs stays too, up to 120 days, four million rows, and 1 GiB. The file does not shrink; its space is \
      used again.
      """)

  @Option(help: ArgumentHelp("Forget what is older: 30d, 12h; with its unit.", valueName: "time"))
  var olderThan: Timespan?

  @Option(help: ArgumentHelp("Keep so many rows: one a change, and one a write.", valueName: "n"))
  var keep: Int?

  @Option(help: ArgumentHelp("Keep so much: 100M, 512K, 2G.", valueName: "size"))
  var maxSize: ByteCount?

  @OptionGroup var common: CommonOptions
  @OptionGroup var writing: WritingOptions

  func validate() throws {
    if let olderThan, !olderThan.hasUnit {
      // Seconds, as elsewhere, would forget nearly all of the log where days were meant.
      throw ValidationError("--older-than \(olderThan.text.dropLast()) lacks a unit: \(olderThan.text), or m, h, d")
    }
    if let keep, keep < 0 { throw ValidationError("--keep wants a number from 0") }
  }

  private var policy: RetentionPolicy {
    let limits = RetentionPolicy.Limits(age: olderThan?.duration, changes: keep, bytes: maxSize?.bytes)
    return limits == .none ? .standard : RetentionPolicy(limits)
  }

  func run() throws {
    let compaction = try common.withStore(writing.isDryRun ? .readOnly : .readWrite) { try forget(in: $0) }
    if !common.quiet { print(compaction) }
    if compaction.isHeldByConsumer { common.note("a named consumer still needs changes that are beyond the limits") }
    if writing.isDryRun { common.note("dry run: nothing was forgotten") }
  }

  /// Without a percentage: how much goes is known when it is gone.
  private func forget(in store: UserStore) throws -> Compaction {
    let ticker = Ticker("compacting", isQuiet: common.quiet)
    defer { ticker.end() }
    return writing.isDryRun ? try store.compactionPreview(keeping: policy) : try store.compact(keeping: policy)
  }

  private func print(_ compaction: Compaction) {
    var printer = RecordPrinter(
      common.recordFormat, columns: ["writes", "changes", "bytes", "horizon"], to: Output(), common.style)
    printer.print(
      Record(fields: [
        ("writes", .integer(Int64(compaction.sets))), ("changes", .integer(Int64(compaction.changes))),
        ("bytes", .integer(Int64(compaction.bytes))), ("horizon", .integer(compaction.horizon.rawValue)),
      ]))
    printer.end()
  }
}
