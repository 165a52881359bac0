import Foundation

/// A value behind a lock that the thread sanitizer knows: it reports a `Mutex`, and these tests see only what is public.
///
/// `@unchecked Sendable`: the value is used only with the lock.
final class Guarded<Value>: @unchecked Sendable {
  private let lock = NSLock()
  private var value: Value

  init(_ value: Value) { self.value = value }

  func withLock<Result>(_ body: (inout Value) -> Result) -> Result { lock.withLock { body(&value) } }
}
