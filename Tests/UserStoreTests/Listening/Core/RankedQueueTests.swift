import TestSupport
import Testing

@testable import UserStore

@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct RankedQueueTests {
  @Test func `elements of the lowest rank leave first, and those of one rank in the order of arrival`() {
    let seed = Seed.base
    var random = SplitMix64(seed: seed)
    var queue = RankedQueue<Int>()
    var model: [(rank: Int, element: Int)] = []
    for element in 0..<2_000 {
      if Bool.random(using: &random) {
        let rank = Int.random(in: 0..<5, using: &random)
        queue.append(element, rank: rank)
        model.append((rank, element))
      } else {
        let lowest = model.indices.min { (model[$0].rank, $0) < (model[$1].rank, $1) }
        let expected = lowest.map { model.remove(at: $0).element }
        #expect(queue.popFirst() == expected, "seed \(seed)")
      }
      #expect(queue.isEmpty == model.isEmpty, "seed \(seed)")
    }
  }
}
