import ArgumentParser
import UserStore
import UserStoreText

/// A listener that stands in for a view model: a name, and the attribute that the view model shows.
struct StandIn: ExpressibleByArgument, Hashable, Sendable {
  let name: String
  /// nil for all attributes.
  let attribute: AttributeName?
  /// The listeners that the remainder complements; nil for a listener.
  private var others: [StandIn]?

  init(_ name: String, _ attribute: AttributeName?) {
    self.name = name
    self.attribute = attribute
  }

  /// A stand-in for the changes that none of the listeners receives, so that they are printed too.
  static func remainder(after listeners: [StandIn]) -> StandIn {
    var remainder = StandIn("", nil)
    remainder.others = listeners
    return remainder
  }

  var isRemainder: Bool { others != nil }

  /// The listener field of a line; null for the remainder.
  var listener: StoredValue { isRemainder ? .null : .text(name) }

  /// Reads `NAME` or `NAME=ATTRIBUTE`.
  init?(argument: String) {
    let (name, attribute) = argument.splitOnce(at: "=") ?? (argument, nil)
    if name.isEmpty || attribute?.isEmpty ?? false { return nil }
    self.init(name, attribute.map { AttributeName(typed: $0) })
  }

  /// Three screens, each of which shows the name on a button and the hair color behind it.
  static let screens = ["FirstScreen", "SecondScreen", "ThirdScreen"].flatMap { screen in
    [StandIn(screen + ".nameButton", .name), StandIn(screen + ".background", .hairColor)]
  }

  func topic(of user: User.ID?) -> Topic {
    switch (attribute, user) {
    case (let attribute?, let user?): .attributeOfUser(attribute, user)
    case (let attribute?, nil): .attributeOfAll(attribute)
    case (nil, let user?): .user(user)
    case (nil, nil): .everything
    }
  }

  func receives(_ attribute: AttributeName) -> Bool {
    if let others { return !others.contains { $0.receives(attribute) } }
    return self.attribute.map { $0 == attribute } ?? true
  }

  /// Whether a line is printed for this listener; an event has one line, without a listener.
  func receives(_ entry: Entry) -> Bool { entry.event == nil ? receives(entry.attribute) : isRemainder }
}

extension [StandIn] {
  /// The listeners, and a stand-in that receives the events.
  var withEvents: [StandIn] {
    contains(where: \.isRemainder) ? self : self + [.remainder(after: [StandIn("", nil)])]
  }
}

struct StandInOptions: ParsableArguments {
  @Option(
    name: .customLong("listener"),
    help: ArgumentHelp(
      "Bind this listener instead of the three screens; may be repeated. Without an attribute, it receives all changes.",
      valueName: "name[=attribute]"))
  var listeners: [StandIn] = []

  /// The listeners in the order of registration; a name and attribute that are given twice are one listener.
  var standIns: [StandIn] {
    var seen = Set<StandIn>()
    return (listeners.isEmpty ? StandIn.screens : listeners).filter { seen.insert($0).inserted }
  }
}
