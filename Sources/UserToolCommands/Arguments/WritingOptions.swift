import ArgumentParser
import UserStore

struct WritingOptions: ParsableArguments {
  @Flag(name: [.customShort("n"), .customLong("dry-run")], help: "Show what would change, without changing anything.")
  var isDryRun = false
}

extension UserStore {
  private struct DryRun: Error {}

  /// Writes; a dry run rolls everything back after `body`.
  func write<Result>(
    origin: String, isDryRun: Bool, _ body: (inout WriteTransaction) throws -> Result
  ) throws -> Result {
    var result: Result?
    do {
      try write(origin: origin) { transaction in
        result = try body(&transaction)
        if isDryRun { throw DryRun() }
      }
    } catch is DryRun {}
    return result!
  }
}
