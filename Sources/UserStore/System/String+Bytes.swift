#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

extension String {
  /// Returns whether both have the same UTF-8 bytes, which is how SQLite compares text.
  package func hasSameBytes(as other: String) -> Bool {
    guard utf8.count == other.utf8.count else { return false }
    return unsafe other.withBytes { unsafe hasBytes($0) }
  }

  /// Returns whether `bytes` are its UTF-8.
  func hasBytes(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    unsafe withBytes { own in
      unsafe own.count == bytes.count && (own.isEmpty || memcmp(own.baseAddress!, bytes.baseAddress!, own.count) == 0)
    }
  }

  func hashBytes(into hasher: inout Hasher) {
    unsafe withBytes { unsafe hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }

  /// Joins texts; for the 20 pieces of a query, `joined` takes 5,800 instructions, and this 1,200.
  init(joining texts: [String]) {
    let count = texts.reduce(0) { $0 + $1.utf8.count }
    unsafe self.init(unsafeUninitializedCapacity: count) { buffer in
      var end = 0
      for text in texts {
        unsafe text.withBytes { bytes in
          _ = unsafe UnsafeMutableBufferPointer(rebasing: buffer[end...]).initialize(fromContentsOf: bytes)
          end += bytes.count
        }
      }
      return end
    }
  }

  /// Calls `body` with the UTF-8; without a copy, whose reference would be counted, unless the text is one of Objective-C.
  @inline(__always)
  private func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
    if let result = unsafe utf8.withContiguousStorageIfAvailable(body) { return result }
    var copy = self
    return copy.withUTF8 { unsafe body($0) }
  }

  /// The first 80 scalars, for messages; a single character may have any number of accents.
  package var excerpt: String { String(String.UnicodeScalarView(unicodeScalars.prefix(80))) }
}

extension String {
  /// Compares the UTF-8 bytes: less than 0 if this text is before the other, 0 if they are equal.
  func byteOrder(to other: String) -> Int {
    unsafe withBytes { left in
      unsafe other.withBytes { right in
        unsafe UnsafeRawBufferPointer(left).byteOrder(to: UnsafeRawBufferPointer(right))
      }
    }
  }
}

extension [UInt8] {
  /// Compares the bytes: less than 0 if these are before the others, 0 if they are equal.
  func byteOrder(to other: [UInt8]) -> Int {
    unsafe withUnsafeBytes { left in
      unsafe other.withUnsafeBytes { right in unsafe left.byteOrder(to: right) }
    }
  }
}

extension UnsafeRawBufferPointer {
  fileprivate func byteOrder(to other: UnsafeRawBufferPointer) -> Int {
    let length = Swift.min(count, other.count)
    let order = unsafe length == 0 ? 0 : Int(memcmp(baseAddress!, other.baseAddress!, length))
    return order == 0 ? count - other.count : order
  }
}
