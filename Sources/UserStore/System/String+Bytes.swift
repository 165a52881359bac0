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
    var other = other
    return other.withUTF8 { unsafe hasBytes($0) }
  }

  /// Returns whether `bytes` are its UTF-8.
  func hasBytes(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    var text = self
    return text.withUTF8 { own in
      unsafe own.count == bytes.count && (own.isEmpty || memcmp(own.baseAddress!, bytes.baseAddress!, own.count) == 0)
    }
  }

  func hashBytes(into hasher: inout Hasher) {
    var text = self
    text.withUTF8 { unsafe hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }

  /// The first 80 scalars, for messages; a single character may have any number of accents.
  package var excerpt: String { String(String.UnicodeScalarView(unicodeScalars.prefix(80))) }
}

extension String {
  /// Compares the UTF-8 bytes: less than 0 if this text is before the other, 0 if they are equal.
  func byteOrder(to other: String) -> Int {
    var (left, right) = (self, other)
    return left.withUTF8 { left in
      right.withUTF8 { right in
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
