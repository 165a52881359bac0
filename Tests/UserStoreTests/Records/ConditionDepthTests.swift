import Foundation
import TestSupport
import Testing

@testable import UserStore

/// Conditions that are nested too deeply: they are refused, and never take stack for each level.
@Suite(.bounded, .serialized) struct ConditionDepthTests {
  private typealias Step = @Sendable (Condition) -> Condition

  /// What nests a condition once more.
  private static let steps: [Step] = [
    { !($0 && .age > 1) }, { !(.age > 1 && $0) }, { !($0 || .age > 1) }, { !(.age > 1 || $0) },
    { ($0 && .age > 1) || .name == "NIX" }, { .name == "NIX" && (.age > 1 || $0) }, { $0 && !($0 && .age > 1) },
  ]

  /// Runs `body` on a thread with a small stack, and returns when the thread has ended.
  private func onSmallStack(_ body: @escaping @Sendable () -> Void) {
    let end = DispatchSemaphore(value: 0)
    let thread = Thread {
      body()
      end.signal()
    }
    thread.stackSize = 256 << 10
    thread.start()
    end.wait()
  }

  @Test(arguments: steps.indices) func `a condition that is built ever deeper takes little stack`(step: Int) throws {
    let store = try UserStore.forTests()
    // Hashed, compared and released there.
    onSmallStack {
      var condition: Condition = .age > 1
      for _ in 0..<10_000 { condition = Self.steps[step](condition) }
      let other = Self.steps[step](condition)
      #expect(Set([condition, other, !condition, condition || other]).count == 1)
      #expect(condition == other)
      #expect(code { try store.read { try $0.count(where: condition) } } == .badValue)
      #expect(code { try store.list(Query(where: condition)) } == .badValue)
      #expect(code { try store.liveCount(where: !other) } == .badValue)
    }
  }

  @Test func `a condition is refused if and only if its parts are nested more than 20 times`() throws {
    var random = SplitMix64(seed: Seed.base)
    let store = try UserStore.forTests()
    for _ in 0..<2_000 {
      // The model: the operators, of which the same junction again is the same part, and two negations are none.
      var (condition, parts): (Condition, [Character]) = (.exists("age"), [])
      for _ in 0..<Int.random(in: 0...40, using: &random) where parts.count <= Limits.conditionDepth {
        let part = "&|!".randomElement(using: &random) ?? "!"
        switch part {
        case "&": condition = condition && .age > 1
        case "|": condition = .age > 1 || condition
        default: condition = !condition
        }
        if part != parts.last { parts.append(part) } else if part == "!" { parts.removeLast() }
      }
      var result: StoreError.Code?
      do { _ = try store.read { try $0.count(where: condition) } } catch { result = StoreError(error).code }
      let isTooDeep = parts.count > Limits.conditionDepth
      #expect(result == (isTooDeep ? .badValue : nil), "USERSTORE_SEED=\(Seed.base): \(String(parts))")
    }
  }
}
