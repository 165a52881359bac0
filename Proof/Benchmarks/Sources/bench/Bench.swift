import ArgumentParser

/// The benchmarks.
///
/// `scripts/bench` builds and runs them.
@main
struct Bench: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bench", abstract: "Measures UserStore, its peers, and a floor in C, side by side.",
    subcommands: [Compare.self, Count.self, Follow.self], defaultSubcommand: Compare.self)
}
