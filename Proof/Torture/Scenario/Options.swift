import UserStore

/// The arguments.
///
/// They are parsed by hand, because a parser takes longer than the rest of most runs.
struct Options: Sendable {
  enum Role: String {
    /// Everything that a store can go through.
    case life
    /// Stops itself while it holds the write lock.
    case holder
    /// Stops itself inside a read.
    case reader
    /// Listens until its input ends.
    case watcher
    /// Reads and writes once.
    case visitor
  }

  /// A deliberate error, to see that it is flagged.
  enum Defect: String {
    /// A write is announced before it is committed.
    case announcesEarly
    /// A process ends at its first error, and the next one repeats the same write without looking whether it was committed.
    case retriesBlindly
    /// An error is treated as success.
    case ignoresErrors
  }

  var folder: String
  var role = Role.life
  var defect: Defect?
  var seed: UInt64 = 1
  var isNormal = false
  var watches = false
  var busyTimeout = Duration.seconds(5)
  /// The limit of file descriptors for the first half of a life.
  var descriptors: Int?

  init?(_ arguments: [String]) {
    guard arguments.count > 1 else { return nil }
    folder = arguments[1]
    var rest = arguments.dropFirst(2)
    while let name = rest.popFirst() {
      guard let value = rest.popFirst(), set(name, to: value) else { return nil }
    }
  }

  private mutating func set(_ name: String, to value: String) -> Bool {
    switch name {
    case "--role": role = Role(rawValue: value) ?? role
    case "--defect": defect = Defect(rawValue: value)
    case "--seed": seed = UInt64(value) ?? seed
    case "--durability": isNormal = value == "normal"
    case "--watches": watches = value == "yes"
    case "--busy": busyTimeout = .milliseconds(Int(value) ?? 5_000)
    case "--descriptors": descriptors = Int(value)
    default: return false
    }
    return true
  }

  var database: String { folder + "/users.db" }

  var configuration: UserStore.Configuration {
    var configuration = UserStore.Configuration()
    configuration.durability = isNormal ? .normal : .full
    configuration.watchesOtherProcesses = watches
    configuration.busyTimeout = busyTimeout
    return configuration
  }
}
