import ArgumentParser
import UserStore

/// A listener that stands in for a view model: a name, and the attribute that it shows.
struct StandIn: ExpressibleByArgument, Hashable, Sendable {
  let name: String
  /// nil for all.
  let attribute: AttributeName?
  /// The listeners there are, where this is nobody; nil where it is a listener.
  private var others: [StandIn]?

  init(_ name: String, _ attribute: AttributeName?) {
    self.name = name
    self.attribute = attribute
  }

  /// Stands for the changes that none of the listeners hears, so that they can be printed too.
  static func nobody(besides listeners: [StandIn]) -> StandIn {
    var nobody = StandIn("", nil)
    nobody.others = listeners
    return nobody
  }

  var isNobody: Bool { others != nil }

  /// What a line says of it; null for nobody.
  var listener: StoredValue { isNobody ? .null : .text(name) }

  /// Names of listeners are compared as Swift compares strings, as the hub does; attributes by their bytes.
  static func == (left: StandIn, right: StandIn) -> Bool {
    left.name == right.name && left.topic(of: nil) == right.topic(of: nil) && left.others == right.others
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(name)
    hasher.combine(topic(of: nil))
  }

  /// Reads `NAME` or `NAME=ATTRIBUTE`.
  init?(argument: String) {
    let (name, attribute) = argument.divided(at: "=") ?? (argument, nil)
    let parsed = attribute.flatMap { AttributeName(argument: $0) }
    if name.isEmpty || attribute != nil && parsed == nil { return nil }
    self.init(name, parsed)
  }

  /// Each of the three screens shows the name on a button, and the hair colour behind it.
  static let screens = ["FirstScreen", "SecondScreen", "ThirdScreen"].flatMap { screen in
    [StandIn(screen + ".nameButton", .name), StandIn(screen + ".background", .hairColor)]
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

  func hears(_ attribute: AttributeName) -> Bool {
    if let others { return !others.contains { $0.hears(attribute) } }
    return self.attribute.map { $0 == attribute } ?? true
  }
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
