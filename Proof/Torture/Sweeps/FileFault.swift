import Foundation

/// What goes wrong in a run: which operation, and how.
struct FileFault: CustomStringConvertible {
  enum Kind: Hashable {
    case killBefore, killAfter, stop
    case error(Int32)
    case short, lie
    /// No memory for SQLite: counted in allocations, not in operations.
    case noMemory
  }

  enum Times: Hashable {
    case once
    /// So many operations, one after the other.
    case several(Int)
    case always
  }

  var kind: Kind
  /// Counted from 1; 0 for nothing at all.
  var at: Int
  var times = Times.once
  /// The letters of the operations that are counted; nil for all.
  var operations: String?

  static let none = FileFault(kind: .killBefore, at: 0)

  /// All that are counted, but locks: that one cannot be had is no failure of a disk.
  static let withoutLocks = "oqwtsDurlm"

  var isKill: Bool { kind == .killBefore || kind == .killAfter }

  /// What the library in front of the C library is told.
  var environment: [String: String] {
    let count = times == .once ? "1" : times == .always ? "0" : several
    if kind == .noMemory { return ["FAULTS_MEMORY_AT": "\(at)", "FAULTS_MEMORY_TIMES": count] }
    var environment = ["FAULTS_AT": "\(at)", "FAULTS_TIMES": count, "FAULTS_DO": action]
    if case .error(let number) = kind { environment["FAULTS_ERRNO"] = "\(number)" }
    if let operations { environment["FAULTS_OPS"] = operations }
    return environment
  }

  private var several: String {
    if case .several(let count) = times { "\(count)" } else { "1" }
  }

  private var action: String {
    switch kind {
    case .killBefore: "kill-before"
    case .killAfter: "kill-after"
    case .stop: "stop"
    case .short: "short"
    case .lie: "lie"
    case .error, .noMemory: "fail"
    }
  }

  var description: String {
    let what = if case .error(let number) = kind { unsafe String(cString: strerror(number)) } else { "\(kind)" }
    let often = times == .once ? "" : times == .always ? ", and from then on" : ", \(several) times"
    return "\(what) at \(kind == .noMemory ? "allocation" : "operation") \(at)\(often)"
  }

  /// The codes with which a store may say that this happened.
  ///
  /// `foreignError` is the scenario's own, for what it does without the store.
  var allowedCodes: Set<String> {
    // Opening and removing fail with less precise words: SQLite tries something else before it gives up.
    let consequences: Set<String> = [
      "commitUnknown", "mustReopen", "rolledBackWithGroup", "transactionEnded", "foreignError", "ioError", "cannotOpen",
      "cannotCreate",
    ]
    switch kind {
    case .error(ENOSPC): return consequences.union(["diskFull"])
    // No code for it; the message says it.
    case .error(EMFILE): return consequences.union(["unexpected"])
    case .error: return consequences
    case .noMemory: return ["outOfMemory", "rolledBackWithGroup", "transactionEnded", "foreignError"]
    case .short, .lie, .killBefore, .killAfter, .stop: return []
    }
  }
}
