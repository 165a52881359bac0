import CUserStoreSQLite
import TestSupport

/// A SQL function that returns another number each time it is evaluated, as random() does, and the same sequence for the
/// same seed: `varying(n)` is 0 to n − 1.
final class VaryingFunction {
  private var random = SplitMix64(seed: 0)

  /// Registers the function with a connection, which must be closed before this object is released.
  init(on connection: PlainConnection) {
    let context = unsafe Unmanaged.passUnretained(self).toOpaque()
    unsafe connection.withHandle { handle in
      _ = unsafe sqlite3_create_function_v2(
        handle, "varying", 1, SQLITE_UTF8, context,
        { call, _, values in
          guard let call = unsafe call, let values = unsafe values, let context = unsafe sqlite3_user_data(call),
            let first = unsafe values[0]
          else { return }
          let function = unsafe Unmanaged<VaryingFunction>.fromOpaque(context).takeUnretainedValue()
          let count = unsafe max(1, sqlite3_value_int64(first))
          unsafe sqlite3_result_int64(call, Int64.random(in: 0..<count, using: &function.random))
        }, nil, nil, nil)
    }
  }

  /// Starts a sequence of numbers.
  func reset(seed: UInt64) {
    random = SplitMix64(seed: seed)
  }
}
