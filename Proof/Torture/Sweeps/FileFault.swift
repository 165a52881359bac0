import Foundation

/// The fault in a run: an operation, and the way in which it fails.
struct FileFault: CustomStringConvertible {
  enum Kind: Hashable {
    case killBefore, killAfter, stop
    case error(Int32)
    case short, lie
    /// SQLite gets no memory. This counts allocations, not operations.
    case noMemory
  }

  enum Times: Hashable {
    case once
    /// So many consecutive operations.
    case several(Int)
    case always
  }

  var kind: Kind
  /// The number of the operation, from 1, or 0 for no fault.
  var at: Int
  var times = Times.once
  /// The letters of the operations that are counted, or nil for all.
  var operations: String?

  static let none = FileFault(kind: .killBefore, at: 0)

  /// All operations except locks, because an unavailable lock is not a failure of the disk.
  static let withoutLocks = "oqwtsDurlm"

  var isKill: Bool { kind == .killBefore || kind == .killAfter }

  /// The variables for the faults library.
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

  /// The codes of the errors that the fault may cause.
  ///
  /// The scenario itself reports `foreignError` for errors outside the store.
  var allowedCodes: Set<String> {
    // Errors of opening and removing are less precise, because SQLite tries something else before it gives up.
    let consequences: Set<String> = [
      "commitUnknown", "mustReopen", "rolledBackWithGroup", "transactionEnded", "foreignError", "ioError", "cannotOpen",
      "cannotCreate",
    ]
    switch kind {
    case .error(ENOSPC): return consequences.union(["diskFull"])
    // There is no code for it. The message says it.
    case .error(EMFILE): return consequences.union(["unexpected"])
    case .error: return consequences
    case .noMemory: return ["outOfMemory", "rolledBackWithGroup", "transactionEnded", "foreignError"]
    case .short, .lie, .killBefore, .killAfter, .stop: return []
    }
  }
}
