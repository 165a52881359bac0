import CUserStoreSystem

extension [UInt8] {
  /// Whether other bytes are somewhere in these, in time that grows with the sum of their lengths.
  func containsBytes(_ part: [UInt8]) -> Bool {
    unsafe withUnsafeBytes { bytes in
      unsafe part.withUnsafeBytes { part in
        unsafe userstore_contains(bytes.baseAddress, bytes.count, part.baseAddress, part.count) != 0
      }
    }
  }
}
