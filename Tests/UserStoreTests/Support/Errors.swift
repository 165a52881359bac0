import Testing

@testable import UserStore

/// The code of the store's error that `body` throws.
///
/// If it throws no error or another one, an issue is recorded and the result is nil.
func code<Result>(
  sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Result
) -> StoreError.Code? {
  do { _ = try body() } catch { return code(of: error, sourceLocation) }
  return code(of: nil, sourceLocation)
}

/// The asynchronous form of `code`.
func awaitedCode<Result>(
  sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> Result
) async -> StoreError.Code? {
  do { _ = try await body() } catch { return code(of: error, sourceLocation) }
  return code(of: nil, sourceLocation)
}

private func code(of error: (any Error)?, _ sourceLocation: SourceLocation) -> StoreError.Code? {
  if let error = error as? StoreError { return error.code }
  Issue.record(error.map { "another error: \($0)" } ?? "no error", sourceLocation: sourceLocation)
  return nil
}
