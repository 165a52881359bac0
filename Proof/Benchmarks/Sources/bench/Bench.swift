import ArgumentParser

/// The benchmarks; `scripts/bench` builds and runs this.
@main
struct Bench: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bench", abstract: "Measures UserStore beside its peers and the floor of C.",
    subcommands: [Compare.self, Count.self, Follow.self], defaultSubcommand: Compare.self)
}
