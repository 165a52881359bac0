@testable import UserStore

/// The simplest round: numbers by topic.
struct Note: Routable {
  let position: Int128
  let values: [String: Int]

  struct Action: ListenerAction {
    let body: @Sendable (Note) throws -> Void
    init(_ body: @escaping @Sendable (Note) throws -> Void) { self.body = body }
    func callAsFunction(_ note: Note) throws { try body(note) }
  }

  func parts(for bound: BoundTopics<String>) -> [(topic: String, part: Note)]? {
    values.filter { bound.contains($0.key) }.map { topic, value in
      (topic, Note(position: position, values: [topic: value]))
    }
  }
}

/// The simplest store: the present numbers, and a hub that delivers each change in the order of the positions.
final class Board: Sendable {
  let hub: ListenerHub<Note>
  let errors: Recorder<Thrown>
  private let state = Lock(State())

  struct Thrown: Sendable {
    let listener: String?
    let error: any Error
  }

  private struct State {
    var position: Int128 = 0
    var values: [String: Int] = [:]
  }

  init() {
    let errors = Recorder<Thrown>()
    self.errors = errors
    hub = ListenerHub { errors.record(Thrown(listener: $0, error: $1)) }
  }

  /// Changes numbers and returns when the change has been delivered, as `UserStore.write` does.
  func post(_ values: [String: Int]) {
    let ticket = state.withLock { state in
      state.position += 1
      state.values.merge(values) { $1 }
      return hub.append(
        Note(position: state.position, values: values), cascade: DeliveryThread.current.calling?.cascade)
    }
    hub.deliver(through: ticket)
  }

  func post(_ topic: String, _ value: Int) { post([topic: value]) }

  var position: Int128 { state.withLock { $0.position } }

  func listenable(_ topic: String) -> Listenable<Int> {
    Listenable(
      HubValue(
        hub: hub, topic: topic, fallback: ValueBox(-1),
        decode: { note, _ in note.values[topic].map { .init(value: ValueBox($0), through: note.position) } },
        read: { state.withLock { .init(value: ValueBox($0.values[topic] ?? 0), through: $0.position) } }
      ).backing)
  }
}

/// An object for weak references.
final class Token: Sendable {}

/// An error to throw.
struct Refusal: Error, Equatable {
  var reason = ""
}
