import UserStore

/// A program that embeds the library, for the torture to kill.
///
/// It writes, counts exactly once, or follows.
///
/// It imports only the library, so that it starts fast, and so that scripts/torture can build it again with a library that
/// is broken on purpose (`Controls/Sabotaged`). It prints each line after the event that the line reports.
@main enum Embedder {
  static func main() async {
    do {
      let arguments = Array(CommandLine.arguments.dropFirst())
      switch arguments.first {
      case "write": try await Writing(Array(arguments.dropFirst())).run()
      case "count": try await Counting(Array(arguments.dropFirst())).run()
      case "follow": try await Following(Array(arguments.dropFirst())).run()
      default: throw Usage()
      }
    } catch {
      say("failed \(error)")
    }
  }
}

/// The arguments are invalid.
struct Usage: Error {}
