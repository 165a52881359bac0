import TestSupport
import Testing

@testable import UserStore

/// Random writes by threads and tasks at the same time, with everything that can fail in their closures: the store then
/// holds exactly what the results promised.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct GroupCommitModelTests {
  private enum Act {
    case add, nothing, refuse, end, endSilently, ask

    init(_ random: inout SplitMix64) {
      self = random.choose(.add, .add, .add, .add, .nothing, .refuse, .ask, random.oneIn(4) ? .end : .endSilently, .add)
    }

    func perform(_ name: String, in transaction: inout WriteTransaction) throws {
      if self == .nothing { return }
      try transaction.add(name: name)
      switch self {
      case .refuse: throw Refusal()
      case .end:
        try transaction.execute("ROLLBACK")
        throw Refusal()
      case .endSilently: try transaction.execute("ROLLBACK")
      default: break
      }
    }

    /// The errors that the writer may get; nil for success.
    var outcomes: Set<String?> {
      switch self {
      case .add, .nothing, .ask: [nil, "rolledBackWithGroup"]
      case .refuse, .end: ["Refusal"]
      case .endSilently: ["transactionEnded"]
      }
    }
  }

  private struct Outcome: Sendable {
    let name: String
    let act: Act
    let error: String?
  }

  private let folder: Folder
  private let store: UserStore
  private let sets = Recorder<ChangeSet>()
  private let outcomes = Recorder<Outcome>()

  init() throws {
    folder = try Folder()
    store = try folder.open { $0.watchesOtherProcesses = false }
    store.listeners.bind("test", to: .everything) { [sets] in sets.record($0) }
    store.listeners.bind("answering", to: .everything) { [store, outcomes] set in
      guard let origin = set.origin, origin.hasPrefix("ask") else { return }
      let name = "answer to \(origin)"
      try store.write(origin: name) { try $0.add(name: name) }
      outcomes.record(Outcome(name: name, act: .add, error: nil))
    }
  }

  private func record(_ name: String, _ act: Act, _ result: Result<Void, any Error>) {
    var text: String?
    if case .failure(let error) = result { text = (error as? StoreError)?.code.rawValue ?? "\(type(of: error))" }
    outcomes.record(Outcome(name: name, act: act, error: text))
    #expect(act.outcomes.contains(text), "\(act): \(text ?? "success")")
  }

  @Test(arguments: 0..<8) func `the store holds what the result of each write says`(number: UInt64) async throws {
    let seed = Seed.base &+ number
    let threads = try Threads.start { [self] in
      try Threads.run(8) { thread in
        var random = SplitMix64(seed: seed &* 1_000 &+ UInt64(thread))
        for step in 0..<25 {
          let act = Act(&random)
          let name = "\(act) thread \(thread) \(step)"
          record(name, act, Result { try store.write(origin: name) { try act.perform(name, in: &$0) } })
        }
      }
    }
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<200 {
        var random = SplitMix64(seed: seed &* 1_000 &+ 500 &+ UInt64(number))
        let (act, isCancelled) = (Act(&random), random.oneIn(5))
        group.addTask { [self] in await write("\(act) task \(number)", act, cancelling: isCancelled) }
      }
    }
    try await threads.joined()
    try check("seed \(seed)")
  }

  private func write(_ name: String, _ act: Act, cancelling isCancelled: Bool) async {
    let task = Task { [store] in try await store.write(origin: name) { try act.perform(name, in: &$0) } }
    if isCancelled {
      await Task.yield()
      task.cancel()
    }
    record(name, act, await task.result)
  }

  private func check(_ comment: Comment) throws {
    let kept = outcomes.all.filter { $0.error == nil && $0.act != .nothing }.map(\.name).sorted()
    let names = try store.read { transaction in try transaction.users().map { try $0.name } }
    #expect(names.sorted() == kept, comment)
    #expect(sets.all.compactMap(\.origin).sorted() == kept, comment)
    #expect(try store.allChanges().map(\.cursor) == sets.all.map(\.cursor), comment)
    #expect(kept.count { $0.hasPrefix("ask") } == kept.count { $0.hasPrefix("answer") }, comment)
    let wasEnded = outcomes.all.contains { $0.act == .end || $0.act == .endSilently }
    #expect(wasEnded || !outcomes.all.contains { $0.error == "rolledBackWithGroup" }, comment)
  }
}
