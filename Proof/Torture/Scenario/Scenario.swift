import Glibc
import TortureSupport

/// The process that the torture kills.
///
/// It uses a store, and announces on standard output what must hold from then on.
///
///     scenario FOLDER [--role life|holder|reader|watcher|visitor] [--seed N] [--durability full|normal] …
@main enum Scenario {
  static func main() async {
    guard let options = Options(CommandLine.arguments) else { exit(64) }
    if options.descriptors != nil {
      // The runtime opens some once, and ends the program if there are none left.
      try? await Task.sleep(for: .milliseconds(1))
    }
    switch options.role {
    case .life: await Life(options).run()
    case .holder: Stopping(options).holdWriteLock()
    case .reader: Stopping(options).read()
    case .watcher: Stopping(options).watch()
    case .visitor: Stopping(options).visit()
    }
    say(.ended)
  }
}
