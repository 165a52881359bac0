import Glibc
import TortureSupport

/// What the torture kills: a process that uses a store, and announces on standard output what holds from then on.
///
///     scenario FOLDER [--role life|holder|reader|watcher|visitor] [--seed N] [--durability full|normal] …
@main enum Scenario {
  static func main() async {
    guard let options = Options(CommandLine.arguments) else { exit(64) }
    if options.descriptors != nil {
      // The runtime takes some for itself, once, and ends the program when there are none.
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
