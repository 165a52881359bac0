import CUserStoreSQLite
import TestSupport

/// A function of SQL that gives another number each time that it is computed, as random() does, and the same ones again
/// for the same seed: `anew(n)` is 0 to n − 1.
final class Anew {
  private var random = SplitMix64(seed: 0)

  /// Gives it to a connection.
  ///
  /// The connection must be closed before this object goes.
  init(on connection: PlainConnection) {
    let context = unsafe Unmanaged.passUnretained(self).toOpaque()
    unsafe connection.withHandle { handle in
      _ = unsafe sqlite3_create_function_v2(
        handle, "anew", 1, SQLITE_UTF8, context,
        { call, _, values in
          guard let call = unsafe call, let values = unsafe values, let context = unsafe sqlite3_user_data(call),
            let first = unsafe values[0]
          else { return }
          let anew = unsafe Unmanaged<Anew>.fromOpaque(context).takeUnretainedValue()
          let count = unsafe max(1, sqlite3_value_int64(first))
          unsafe sqlite3_result_int64(call, Int64.random(in: 0..<count, using: &anew.random))
        }, nil, nil, nil)
    }
  }

  /// Begins a row of numbers.
  func reset(seed: UInt64) {
    random = SplitMix64(seed: seed)
  }
}
