import ArgumentParser
import UserStore

/// A listener that stands in for a view model: a name, and the attribute that it shows.
struct StandIn: ExpressibleByArgument, Hashable, Sendable {
  let name: String
  /// nil for all.
  let attribute: String?

  init(_ name: String, _ attribute: String?) {
    self.name = name
    self.attribute = attribute
  }

  /// Reads `NAME` or `NAME=ATTRIBUTE`.
  init?(argument: String) {
    let (name, attribute) = argument.divided(at: "=") ?? (argument, nil)
    if name.isEmpty || attribute?.isEmpty ?? false { return nil }
    self.init(name, attribute.map { AttributeName.canonical($0) })
  }

  /// Each of the three screens shows the name on a button, and the hair colour behind it.
  static let screens = ["FirstScreen", "SecondScreen", "ThirdScreen"].flatMap { screen in
    [StandIn(screen + ".nameButton", "name"), StandIn(screen + ".background", "hair_color")]
  }

  /// What it listens to, of one user or of all.
  func topic(of user: User.ID?) -> Topic {
    switch (attribute, user) {
    case (let attribute?, let user?): .attributeOfUser(attribute, user)
    case (let attribute?, nil): .attributeOfAll(attribute)
    case (nil, let user?): .user(user)
    case (nil, nil): .everything
    }
  }

  func hears(_ attribute: String) -> Bool { self.attribute.map { $0 == attribute } ?? true }
}

/// `--listener`, of several commands.
struct StandInOptions: ParsableArguments {
  @Option(
    name: .customLong("listener"),
    help: ArgumentHelp(
      "A listener in place of the three screens; may be repeated. Without an attribute it hears all.",
      valueName: "name[=attribute]"))
  var listeners: [StandIn] = []

  /// In the order of registration.
  ///
  /// The same name and attribute given twice is one listener.
  var standIns: [StandIn] {
    var seen = Set<StandIn>()
    return (listeners.isEmpty ? StandIn.screens : listeners).filter { seen.insert($0).inserted }
  }
}
