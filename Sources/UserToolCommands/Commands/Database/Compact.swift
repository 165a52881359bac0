import ArgumentParser
import UserStore

struct CompactCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "compact",
    abstract: "Delete old changes from the log and print how many.",
    usage: "usertool compact [<options>]",
    discussion: """
      Examples:
        usertool compact --older-than 30d
        usertool compact --keep 10000 --max-size 100M
        usertool compact --older-than 0s --dry-run

      Deletes whole writes that are beyond one of the given limits. Without limits, deletes what is older than 30 days \
      or beyond 1,000,000 rows or 256 MiB, but keeps the newest 10,000 rows. Commands that write delete by these \
      default limits too, a little at a time. A write that lies partly beyond a limit is deleted once 10,000 rows have \
      followed it. The records themselves stay. A watch that continues from a cursor and needs deleted changes restarts \
      from the current state. Changes that a named consumer still needs are kept, up to 120 days, 4,000,000 rows and 1 \
      GiB. The file does not shrink; its space is reused.
      """)

  @Option(help: ArgumentHelp("Delete changes older than this, with a unit: 30d, 12h.", valueName: "time"))
  var olderThan: Timespan?

  @Option(help: ArgumentHelp("Keep at most this many rows: one per change and one per write.", valueName: "n"))
  var keep: Int?

  @Option(help: ArgumentHelp("Keep at most this much: 100M, 512K, 2G.", valueName: "size"))
  var maxSize: ByteCount?

  @OptionGroup var common: CommonOptions
  @OptionGroup var writing: WritingOptions

  func validate() throws {
    try olderThan?.checkUnit(of: "--older-than")
    if let keep, keep < 0 { throw ValidationError("--keep must be 0 or more") }
  }

  private var policy: RetentionPolicy {
    let limits = RetentionPolicy.Limits(age: olderThan?.duration, changes: keep, bytes: maxSize?.bytes)
    return limits == .none ? .standard : RetentionPolicy(limits)
  }

  func run() throws {
    let compaction = try common.withStore(writing.isDryRun ? .readOnly : .readWrite) { try compact($0) }
    if !common.quiet { print(compaction) }
    if compaction.isHeldByConsumer { common.note("a named consumer still needs changes that are beyond the limits") }
    if writing.isDryRun { common.note("dry run: nothing was deleted") }
  }

  /// Shows no percentage: the amount to delete is known only at the end.
  private func compact(_ store: UserStore) throws -> Compaction {
    try common.showProgress("compacting") { _ in
      writing.isDryRun ? try store.compactionPreview(keeping: policy) : try store.compact(keeping: policy)
    }
  }

  private func print(_ compaction: Compaction) {
    let counts = [compaction.sets, compaction.changes, compaction.bytes].map { StoredValue.integer(Int64($0)) }
    common.print(
      ["writes", "changes", "bytes", "horizon"], [counts + [.integer(compaction.horizon.rawValue)]],
      isAfterChange: !writing.isDryRun)
  }
}

/// A size on the command line: `100M`, `512K`, `2G`, or bytes without a unit; a kilobyte is 1,024 bytes.
struct ByteCount: ExpressibleByArgument {
  let bytes: Int

  init?(argument: String) {
    let units: [(name: Character, shift: Int)] = [("K", 10), ("M", 20), ("G", 30), ("T", 40)]
    let unit = units.first { argument.last?.uppercased() == String($0.name) }
    let digits = unit == nil ? argument[...] : argument.dropLast()
    guard let number = Int(digits), number >= 0, !digits.hasPrefix("+") else { return nil }
    let (bytes, isTooLarge) = number.multipliedReportingOverflow(by: 1 << (unit?.shift ?? 0))
    if isTooLarge { return nil }
    self.bytes = bytes
  }
}
