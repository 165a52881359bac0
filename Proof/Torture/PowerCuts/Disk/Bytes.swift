/// The content of a file.
///
/// It is copied and filled with memory functions, because loops are slow in a debug build.
struct Bytes {
  static let sector = 512

  private(set) var values: [UInt8] = []

  init(_ values: [UInt8] = []) {
    self.values = values
  }

  var count: Int { values.count }

  mutating func apply(_ change: Disk.Change) {
    switch change {
    case .write(let offset, let bytes): write(bytes[...], at: offset)
    case .resize(let size): resize(to: size)
    }
  }

  mutating func write(_ bytes: ArraySlice<UInt8>, at offset: Int) {
    if count < offset + bytes.count { resize(to: offset + bytes.count) }
    unsafe values.withUnsafeMutableBytes { target in
      unsafe bytes.withUnsafeBytes { source in
        unsafe UnsafeMutableRawBufferPointer(rebasing: target[offset..<offset + source.count]).copyMemory(from: source)
      }
    }
  }

  /// Changes the length.
  ///
  /// New bytes are zero.
  mutating func resize(to size: Int) {
    if size <= count { return values.removeLast(count - size) }
    let missing = size - count
    values += unsafe Array(unsafeUninitializedCapacity: missing) { buffer, initialized in
      unsafe buffer.initialize(repeating: 0)
      initialized = missing
    }
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(count)
    unsafe values.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
  }
}
