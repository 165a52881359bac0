import UserStore

/// A program that embeds the library, to be killed: one that writes, one that counts exactly once, one that follows.
///
/// It imports nothing but the library, so that it starts in a moment, and so that Controls/Sabotaged can build it again
/// with a library that was broken on purpose. Each line that it prints is there when what it says has happened.
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

/// The arguments are others than the program takes.
struct Usage: Error {}
