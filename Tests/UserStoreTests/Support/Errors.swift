import Testing

@testable import UserStore

/// The code of the store's error that `body` throws.
///
/// If it throws no error or another one, an issue is recorded and the result is nil.
func code<Result>(
  sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Result
) -> StoreError.Code? {
  do { _ = try body() } catch {
    if let error = error as? StoreError { return error.code }
    Issue.record("another error: \(error)", sourceLocation: sourceLocation)
    return nil
  }
  Issue.record("no error", sourceLocation: sourceLocation)
  return nil
}

/// The asynchronous form of `code`.
func awaitedCode<Result>(
  sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> Result
) async -> StoreError.Code? {
  do { _ = try await body() } catch {
    if let error = error as? StoreError { return error.code }
    Issue.record("another error: \(error)", sourceLocation: sourceLocation)
    return nil
  }
  Issue.record("no error", sourceLocation: sourceLocation)
  return nil
}

extension ChangeSet {
  /// Each change as one line of text, for comparisons.
  var lines: [String] {
    guard let changes = try? changes else { return ["unreadable"] }
    return changes.map { "\($0.kind) \($0.user) \($0.attribute) \($0.old.line) \($0.new.line)" }
  }
}

extension StoredValue {
  fileprivate var line: String {
    switch self {
    case .null: "-"
    case .integer(let integer): "\(integer)"
    case .real(let real): "\(real)"
    case .text(let text): "'\(text)'"
    // The description of megabytes takes seconds.
    case .blob(let bytes): bytes.count > 1_000 ? "\(bytes.count) bytes \(bytes.hashValue)" : "\(bytes)"
    case .invalidText(let bytes): "invalid\(bytes)"
    }
  }
}

extension UserStore {
  /// All sets after a cursor, read page by page.
  func allChanges(after cursor: Cursor? = nil) throws -> [ChangeSet] {
    var sets = try page(after: cursor)
    while let last = sets.last {
      let more = try page(after: last.cursor)
      if more.isEmpty { break }
      sets += more
    }
    return sets
  }
}
