import Testing

@testable import UserStore

/// The state machine of the delivery, without threads.
@Suite(.bounded, .serialized) struct RoundQueueTests {
  private let first = Parker()
  private let second = Parker()

  @Test func `the deliverer stops after its own item, and a thread that waits takes over`() {
    var queue = RoundQueue<String>()
    let own = queue.append("own")
    #expect(queue.enter(through: own, parker: first) == .deliver)
    let other = queue.append("other")
    #expect(queue.enter(through: other, parker: second) == .wait)
    #expect(queue.next(isFirst: true, through: own).item == "own")
    let end = queue.next(isFirst: false, through: own)
    #expect(end.item == nil)
    #expect(end.wake.count == 1 && end.wake.first === second)
    #expect(queue.enter(through: other, parker: second) == .deliver)
    #expect(queue.next(isFirst: true, through: other).item == "other")
  }

  @Test func `if no thread waits, the deliverer empties the queue`() {
    var queue = RoundQueue<String>()
    let own = queue.append("own")
    #expect(queue.enter(through: own, parker: first) == .deliver)
    _ = queue.append("other")
    #expect(queue.next(isFirst: true, through: own).item == "own")
    #expect(queue.next(isFirst: false, through: own).item == "other")
    #expect(queue.next(isFirst: false, through: own).item == nil)
    #expect(queue.enter(through: nil, parker: first) == .leave)
  }

  @Test func `a thread that waits is woken when another thread has delivered its item`() {
    var queue = RoundQueue<String>()
    let early = queue.append("early")
    let late = queue.append("late")
    #expect(queue.enter(through: late, parker: first) == .deliver)
    #expect(queue.enter(through: early, parker: second) == .wait)
    _ = queue.next(isFirst: true, through: late)
    let next = queue.next(isFirst: false, through: late)
    #expect(next.item == "late" && next.wake.count == 1)
    #expect(queue.enter(through: early, parker: second) == .leave)
  }

  @Test func `a thread without an item delivers only items that no thread delivers`() {
    var queue = RoundQueue<String>()
    #expect(queue.enter(through: nil, parker: first) == .leave)
    _ = queue.append("a")
    #expect(queue.enter(through: nil, parker: first) == .deliver)
    #expect(queue.enter(through: nil, parker: second) == .leave)
  }

  @Test func `a thread that finds no other delivers immediately, and others wait for it`() {
    var queue = RoundQueue<String>()
    let own = queue.beginAlone()
    #expect(own == 1)
    #expect(queue.beginAlone() == nil)
    let other = queue.append("other")
    #expect(queue.enter(through: other, parker: second) == .wait)
    let end = queue.next(isFirst: false, through: own)
    #expect(end.item == nil && end.wake.first === second)
    #expect(queue.beginAlone() == nil)
    #expect(queue.enter(through: other, parker: second) == .deliver)
    #expect(queue.next(isFirst: true, through: other).item == "other")
    #expect(queue.next(isFirst: false, through: other).item == nil)
    #expect(queue.beginAlone() == 3)
  }

  @Test func `a thread that delivers alone ends its turn only if nothing is queued and no thread waits`() {
    var queue = RoundQueue<String>()
    let own = queue.beginAlone()
    #expect(own == 1)
    let other = queue.append("other")
    let endsBefore = queue.endAlone()
    #expect(!endsBefore)
    #expect(queue.enter(through: other, parker: second) == .wait)
    #expect(queue.next(isFirst: false, through: own).wake.count == 1)
    #expect(queue.enter(through: other, parker: second) == .deliver)
    #expect(queue.next(isFirst: true, through: other).item == "other")
    #expect(queue.enter(through: own, parker: first) == .leave)
    #expect(queue.next(isFirst: false, through: other).item == nil)
    #expect(queue.beginAlone() == 3)
    #expect(queue.enter(through: 3, parker: second) == .wait)
    let leavesWaiting = queue.endAlone()
    #expect(!leavesWaiting)
    #expect(queue.next(isFirst: false, through: 3).wake.count == 1)
    #expect(queue.beginAlone() == 4)
    let ends = queue.endAlone()
    #expect(ends)
    #expect(queue.enter(through: 4, parker: first) == .leave)
  }

  @Test func `no thread overtakes queued items`() {
    var queue = RoundQueue<String>()
    let early = queue.append("early")
    #expect(queue.beginAlone() == nil)
    #expect(queue.enter(through: early, parker: first) == .deliver)
    #expect(queue.next(isFirst: true, through: early).item == "early")
    #expect(queue.next(isFirst: false, through: early).item == nil)
    #expect(queue.beginAlone() == 2)
  }

  @Test func `a long queue keeps its order`() {
    var queue = RoundQueue<Int>()
    var ticket = 0
    for number in 0..<5_000 { ticket = queue.append(number) }
    #expect(queue.enter(through: ticket, parker: first) == .deliver)
    var seen: [Int] = []
    while let item = queue.next(isFirst: seen.isEmpty, through: ticket).item {
      seen.append(item)
      if item < 1_000 { _ = queue.append(5_000 + item) }
    }
    #expect(seen == Array(0..<6_000))
  }
}
