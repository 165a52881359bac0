import TestSupport
import Testing

@testable import UserStore

@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct FIFOTests {
  @Test func `elements are removed in the order in which they were appended, as from an array`() {
    let seed = Seed.base
    var random = SplitMix64(seed: seed)
    var (queue, model) = (FIFO<Int>(), [Int]())
    for element in 0..<20_000 {
      // The queue grows and shrinks in long phases, so that the front moves far and the queue becomes empty.
      if Int.random(in: 0..<10, using: &random) < (element / 1_000 % 2 == 0 ? 7 : 3) {
        queue.append(element)
        model.append(element)
      } else {
        #expect(queue.popFirst() == (model.isEmpty ? nil : model.removeFirst()), "seed \(seed)")
      }
      #expect(queue.count == model.count && queue.first == model.first, "seed \(seed)")
    }
  }

  @Test func `a removed element is released`() {
    var queue = FIFO(Token())
    weak let first = queue.first
    queue.append(Token())
    #expect(first != nil)
    _ = queue.popFirst()
    #expect(first == nil && queue.count == 1)
  }
}
