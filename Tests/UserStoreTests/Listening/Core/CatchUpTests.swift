import TestSupport
import Testing

@testable import UserStore

/// A state that follows rounds, against a model: after everything, it has each number of a log once, in order.
@Suite(.bounded, .serialized) struct CatchUpTests {
  /// The numbers after `start` through `position`, one round.
  private struct Span: Positioned {
    let start: Int128
    let position: Int128

    func dropping(through position: Int128) -> Span? {
      self.position > position ? Span(start: max(start, position), position: self.position) : nil
    }
  }

  /// A state that is the sum of a log's numbers, so that a number that is missing or comes twice shows.
  private struct Follower {
    var progress = CatchUp<Span>()
    var sum: Int128 = 0

    mutating func read(_ end: Int128) {
      sum = end * (end + 1) / 2
      progress.advance(through: end)
    }

    mutating func follow(_ spans: [Span]) {
      for span in spans {
        if span.start < span.position { for number in span.start + 1...span.position { sum += number } }
        progress.advance(through: span.position)
      }
    }
  }

  @Test(arguments: 0..<200 as Range<UInt64>)
  func `each number is counted once, for any place of the read and any division of the log`(_ index: UInt64) {
    let seed = Seed.base &+ index
    var random = SplitMix64(seed: seed)
    var (end, delivered) = (Int128(0), Int128(0))
    var follower = Follower()
    var isReading = true
    for _ in 0..<60 {
      switch random.choose(0, 0, 1, 1, 1, 2, 3) {
      case 0: end += Int128(random.choose(1, 2, 5))
      case 1 where delivered < end:
        // Any part of what is new, as one round.
        let position = Int128(Int64.random(in: Int64(delivered) + 1...Int64(end), using: &random))
        let round = follower.progress.receive(Span(start: delivered, position: position))
        delivered = position
        #expect(round == nil || !isReading, "USERSTORE_SEED=\(seed)")
        guard let round else { continue }
        if follower.progress.isStale || random.oneIn(8) {
          follower.progress.beginReading()
          isReading = true
        } else {
          follower.follow([round])
        }
      case 2 where isReading:
        follower.read(Int128(Int64.random(in: Int64(delivered)...Int64(end), using: &random)))
        while let rounds = follower.progress.next() { follower.follow(rounds) }
        isReading = false
      case 3 where isReading && delivered > 0 && random.oneIn(3):
        follower.progress.fail()
        isReading = false
      default: break
      }
      let through = follower.progress.through
      if !isReading, !follower.progress.isStale {
        #expect(through >= delivered && follower.sum == through * (through + 1) / 2, "USERSTORE_SEED=\(seed)")
      }
    }
  }
}
