import Testing

@testable import UserStore

/// Writers that arrive one after the other while the first one keeps the turn, so that their order is known.
final class Lineup: Sendable {
  typealias Body = @Sendable (inout WriteTransaction) throws -> Void

  /// How a writer waits.
  enum Kind: CaseIterable {
    case thread, task
  }

  let store: UserStore
  private let mayContinue = Gate()
  private let first: Task<String?, Never>
  private let others = Lock<[Task<String?, Never>]>([])

  /// Returns when the first writer is in its closure, which then runs `body`.
  init(_ store: UserStore, first kind: Kind = .task, _ body: @escaping Body = { _ in }) async {
    self.store = store
    let (holding, mayContinue) = (Recorder<Void>(), mayContinue)
    first = Self.start(store, kind, origin: "first") { transaction in
      holding.record(())
      mayContinue.wait()
      try body(&transaction)
    }
    await holding.reached(1)
  }

  /// Adds a writer, whose origin is its number, and returns when it waits in line.
  @discardableResult
  func add(_ kind: Kind, _ body: @escaping Body) async -> Task<String?, Never> {
    let count = store.waitingWriters
    let number = others.withLock { $0.count }
    let task = Self.start(store, kind, origin: "\(number)", body)
    others.withLock { $0.append(task) }
    while store.waitingWriters == count { await Task.yield() }
    return task
  }

  /// Lets all writers finish.
  ///
  /// - Returns: The error code of each writer except the first, nil for success.
  @discardableResult
  func go() async -> [String?] {
    mayContinue.open()
    _ = await first.value
    return await results()
  }

  func results() async -> [String?] {
    var results: [String?] = []
    for task in others.withLock({ $0 }) { results.append(await task.value) }
    return results
  }

  private static func start(
    _ store: UserStore, _ kind: Kind, origin: String, _ body: @escaping Body
  ) -> Task<String?, Never> {
    Task.detached {
      do {
        switch kind {
        case .task: try await store.write(origin: origin, body)
        case .thread: try await Threads.start { try store.write(origin: origin, body) }.joined()
        }
        return nil
      } catch {
        return (error as? StoreError)?.code.rawValue ?? "\(type(of: error))"
      }
    }
  }
}

extension UserStore {
  /// The number of writers that wait for their turn.
  var waitingWriters: Int { writer?.turns.line.withLock { $0.count } ?? 0 }

  /// Returns when the write thread is free: while it still returns from an earlier write, tasks wait behind threads.
  func writeThreadReturned() async {
    while writer?.turns.line.withLock({ $0.isWorkerBusy }) == true { await Task.yield() }
  }
}
