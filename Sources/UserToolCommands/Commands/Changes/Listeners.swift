import ArgumentParser
import UserStore

struct ListenersCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "listeners",
    abstract: "List the listeners that usertool binds for watch and for commands that change users.",
    usage: "usertool listeners [<user>] [<options>]",
    discussion: """
      Examples:
        usertool listeners
        usertool listeners Zoë
        usertool listeners Zoë --listener Title=name --listener Title=name
      """)

  @Argument(help: "Bind the listeners to this user instead of all users.")
  var user: UserReference?

  @OptionGroup var listening: StandInOptions
  @OptionGroup var common: CommonOptions

  func run() throws {
    try common.withStore(.readOnly) { store in
      let id = try store.read { transaction in try user?.resolve(in: &transaction).id }
      // Binds duplicates too: the store replaces a listener with the same name and topic.
      for standIn in listening.listeners.isEmpty ? StandIn.screens : listening.listeners {
        store.listeners.bind(standIn.name, to: standIn.topic(of: id)) { _ in }
      }
      let rows = store.listeners.all.enumerated().map { index, listener -> [StoredValue] in
        [
          .integer(Int64(index + 1)), listener.name.map { .text($0) } ?? .null, .text(listener.topic.summary),
          .integer(Int64(listener.calls)),
        ]
      }
      common.print(["order", "listener", "topic", "calls"], rows)
    }
  }
}

extension Topic {
  fileprivate var summary: String {
    switch self {
    case .everything: "everything"
    case .user(let id): "user \(id)"
    case .attributeOfAll(let name): "\(name) of all users"
    case .attributeOfUser(let name, let id): "\(name) of user \(id)"
    case .event(let name): "event \(name)"
    }
  }
}
