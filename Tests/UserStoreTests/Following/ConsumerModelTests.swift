import TestSupport
import Testing

@testable import UserStore

/// Random consumers of random topics that acknowledge sets and parts of sets, and are claimed again at random: together, they
/// receive the changes of the log, each once if it was acknowledged, and the position ends where the log ends.
@Suite(.bounded, .serialized, .timeLimit(.minutes(10))) struct ConsumerModelTests {
  private static let topics: [[Topic]] = [
    [.everything], [.attribute(.age)], [.attribute(.name)], [.user(User.ID(1))], [.attributeOfUser("age", User.ID(2))],
    [.attribute(.age), .user(User.ID(3))],
  ]

  @Test(arguments: 0..<3 * Repetitions.count) func `what is acknowledged is received once, in order`(number: Int)
    async throws
  {
    var random = SplitMix64(seed: Seed.base &+ UInt64(number))
    let store = try UserStore.forTests()
    let ids = try await store.write { users in try (1...3).map { try users.add(name: "\($0)") } }
    let start = try await store.read { try $0.cursor }
    let topics = Self.topics[Int(random.next() % UInt64(Self.topics.count))]
    _ = try await store.consumer("model", from: .after(start))

    var acknowledged: [Int64] = []
    for _ in 0..<6 {
      try await write(to: store, ids, &random)
      acknowledged += try await consume(store, topics, SplitMix64(seed: random.next()))
    }
    // The rest, in whole sets.
    acknowledged += try await consume(store, topics, nil)
    let log = try store.allChanges(after: start).flatMap { try $0.changes }
    let expected = log.filter { topics.contain($0) }.map(\.sequence)
    #expect(acknowledged == expected, "seed \(Seed.base &+ UInt64(number)), topics \(topics)")
    let end = try await store.read { try $0.cursor }
    let position = try await store.read { try $0.consumers()[0].cursor }
    #expect(position == end, "seed \(Seed.base &+ UInt64(number)), topics \(topics)")
  }

  private func write(to store: UserStore, _ ids: [User.ID], _ random: inout SplitMix64) async throws {
    for _ in 0..<(random.next() % 5) {
      let count = random.oneIn(10) ? 1_200 : Int(random.next() % 6)
      let changes = (0..<count).map { (ids[Int(random.next() % 3)], $0, random.oneIn(2)) }
      try await store.write { users in
        for (id, number, isAge) in changes {
          if isAge { try users.set(.age, of: id, to: number) } else { try users.rename(id, to: "name \(number)") }
        }
      }
    }
  }

  /// Claims the name and iterates to the end of the log, or a random number of sets; returns the changes that are acknowledged.
  private func consume(
    _ store: UserStore, _ topics: [Topic], _ random: SplitMix64?
  ) async throws -> [Int64] {
    var random = random
    let consumer = try await store.consumer("model", of: topics, heartbeat: .seconds(3_600))
    var acknowledged: [Int64] = []
    for try await set in consumer {
      // The first heartbeat is at the end of the log.
      if set.heartbeat != nil { break }
      let changes = try set.changes
      #expect(!changes.isEmpty)
      let choice = random?.next() ?? 0
      let index = Int((random?.next() ?? 0) % UInt64(changes.count))
      switch choice % 5 {
      case 0: try await consumer.acknowledge(set)
      case 1: try await store.write { try consumer.acknowledge(set, in: &$0) }
      case 2: try await consumer.acknowledge(set, through: changes[index])
      case 3: try await store.write { try consumer.acknowledge(set, through: changes[index], in: &$0) }
      default: return acknowledged
      }
      let isWhole = choice % 5 < 2
      acknowledged += (isWhole ? changes : Array(changes[...index])).map(\.sequence)
      if !isWhole { break }
    }
    try await consumer.flush()
    return acknowledged
  }
}
