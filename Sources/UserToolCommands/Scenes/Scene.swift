import Synchronization
import UserStore

enum Scene: String, CaseIterable {
  case screens
  case login
  case signals
  case lottery

  var summary: String {
    switch self {
    case .screens: "three screens that show one name, which is edited on the third"
    case .login: "a login manager, and a label that observes it while on the screen"
    case .signals: "a text field as a signal, and two chained requests"
    case .lottery: "five binding chains between numbers, labels and controls, one with a filter"
    }
  }

  /// Plays the scene in less than ten seconds, and shows how many objects are left; throws `Exit` after a signal.
  func perform(on stage: Stage) async throws {
    try await play(on: stage)
    // Chains release dead members on the next turns of the main actor.
    for _ in 0..<1_000 where CountedObject.count > 0 { await Task.yield() }
    try stage.announce("The scene is over.")
    stage.show("objects alive: \(CountedObject.count)")
  }

  private func play(on stage: Stage) async throws {
    switch self {
    case .screens: try ScreensScene(stage).play()
    case .login: try LoginScene(stage: stage).play()
    case .signals: try await SignalsScene(stage: stage).play()
    case .lottery: try await LotteryScene(stage: stage).play()
    }
  }
}

/// Prints a scene's steps and results, on a terminal at a readable pace.
final class Stage: Sendable {
  private let output: Lock<Output>
  private let style: Style
  private let pause: Int32

  init(_ output: sending Output, _ style: Style) {
    self.output = Lock(output)
    self.style = style
    pause = System.isTerminal(1) ? 500 : 0
  }

  static func makeStore() throws -> UserStore {
    var configuration = Configuration()
    configuration.watchesOtherProcesses = false
    return try UserStore.temporary(configuration: configuration)
  }

  /// Starts a step, after a pause on a terminal; throws `Exit` after a signal, which also ends the pause.
  func announce(_ text: String) throws {
    Signals.shared.sleep(milliseconds: pause)
    try Signals.shared.check()
    write(style.bold(text))
  }

  func show(_ text: String) {
    write("  " + text)
  }

  private func write(_ line: String) {
    output.withLock { output in
      output.writeLine(line)
      output.flush()
    }
  }
}

final class StageLabel: Sendable {
  private let name: String
  private let stage: Stage
  private let counted = CountedObject()

  init(_ name: String, _ stage: Stage) {
    self.name = name
    self.stage = stage
  }

  func show(_ text: String, in part: String = "") { stage.show("\(name)\(part)  \(text.isEmpty ? "(empty)" : text)") }
}

/// A member of each object in a scene, for counting: none must be left at the end.
final class CountedObject: Sendable {
  private static let counter = Atomic<Int>(0)

  static var count: Int { counter.load(ordering: .relaxed) }

  init() { Self.counter.wrappingAdd(1, ordering: .relaxed) }
  deinit { Self.counter.wrappingSubtract(1, ordering: .relaxed) }
}
