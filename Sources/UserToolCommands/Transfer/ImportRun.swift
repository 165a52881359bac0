import UserStore

/// An import in one write, or in batches.
struct ImportRun {
  private var importer: Importer
  private let size: Int64
  private let batch: Int?
  private let isDryRun: Bool
  /// The counts of the committed records.
  private var done = Importer.Counts()
  private var doneLine = 0
  private var sets = 0
  /// The first users as a dry run would store them.
  private(set) var preview: [String] = []

  /// What the user should know of the file.
  var notes: [String] { importer.records.notes + importer.notes }

  private struct DryRun: Error {}

  init(importer: Importer, size: Int64, batch: Int?, isDryRun: Bool) {
    self.importer = importer
    self.size = size
    self.batch = batch
    self.isDryRun = isDryRun
  }

  /// Writes all records, and returns a report.
  ///
  /// Throws a `Failure` with the position of a bad record, and `Exit` after a signal; nothing of the current batch is
  /// committed then.
  mutating func write(to store: UserStore, isQuiet: Bool) throws -> String {
    Signals.shared.takeOver {}
    var progress = Progress("imported", isQuiet: isQuiet)
    do {
      while try writeSome(to: store, &progress) {}
    } catch is DryRun {
      done = importer.counts
    } catch {
      throw explained(error)
    }
    return report
  }

  /// Writes one batch, or everything, and returns whether more records may be left.
  private mutating func writeSome(to store: UserStore, _ progress: inout Progress) throws -> Bool {
    let total = Double(max(1, size))
    let mayHaveMore = try store.write(origin: "usertool") { transaction in
      let mayHaveMore = try importer.run(batch, in: &transaction) { importer in
        if let status = Signals.shared.status { throw Exit(status: status) }
        progress.note(importer.counts.users, fraction: Double(importer.records.offset) / total)
      }
      if isDryRun {
        preview = try ImportPreview.lines(of: importer.firstUsers, in: &transaction)
        throw DryRun()
      }
      return mayHaveMore
    }
    if importer.counts.written > done.written { sets += 1 }
    (done, doneLine) = (importer.counts, importer.line)
    return mayHaveMore
  }

  // MARK: Messages

  private var report: String {
    let number = "\(done.users) user\(done.users == 1 ? "" : "s")"
    var parts: [String] = []
    if importer.identity == .updating { parts = ["\(done.added) added", "\(done.changed) changed"] }
    if let rejects = importer.rejects, rejects.count > 0 { parts.append("\(rejects.count) skipped") }
    let details = parts.isEmpty ? "" : " (" + parts.joined(separator: ", ") + ")"
    if isDryRun { return "dry run: would import \(number)\(details); nothing was changed" }
    switch sets {
    case 0: return "nothing was changed: \(number)\(details)"
    case 1: return "imported \(number)\(details) as one change set"
    default: return "imported \(number)\(details) as \(sets) change sets"
    }
  }

  /// Adds to an error what was committed: nothing, or the batches before it.
  private func explained(_ error: any Error) -> any Error {
    let kept = doneLine == 0 ? "nothing was changed" : "the \(done.users) users up to line \(doneLine) were imported"
    switch error {
    case var failure as Failure:
      failure.hint = kept + "; " + (failure.hint ?? "--skip-bad skips such records")
      return failure
    case let exit as Exit:
      Messages.shared.writeLine(Signals.shared.lineEnd + "stopped: " + kept)
      return exit
    case let error as StoreError where doneLine > 0:
      return Failure(ExitStatus(error.code), error.message, hint: kept, tellsOfCommit: true)
    default: return error
    }
  }
}
