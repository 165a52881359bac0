#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

extension String {
  /// Whether both are the same bytes of UTF-8, which is what SQLite compares.
  package func hasSameBytes(as other: String) -> Bool {
    var other = other
    return other.withUTF8 { unsafe hasBytes($0) }
  }

  /// Whether these are its bytes of UTF-8.
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

  /// The beginning, for messages.
  ///
  /// Counted in scalars: a single character may have any number of accents.
  package var excerpt: String { String(String.UnicodeScalarView(unicodeScalars.prefix(80))) }
}
