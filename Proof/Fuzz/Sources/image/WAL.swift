/// The format of -wal files (sqlite.org/fileformat2.html#the_write_ahead_log), as far as needed to correct the checksums of a
/// changed file.
///
/// SQLite ignores frames with wrong checksums.
enum WAL {
  static let headerSize = 32
  static let frameHeaderSize = 24

  /// Copies the header's salts to all frames, and corrects all checksums.
  static func sign(_ wal: inout [UInt8], pageSize: Int) {
    guard wal.count >= headerSize else { return }
    let isBigEndian = wal[3] & 1 == 1
    var sum = Sum(isBigEndian: isBigEndian)
    sum.add(wal[0..<24])
    sum.store(in: &wal, at: 24)
    var frame = headerSize
    while frame + frameHeaderSize + pageSize <= wal.count {
      wal.replaceSubrange(frame + 8..<frame + 16, with: Array(wal[16..<24]))
      sum.add(wal[frame..<frame + 8])
      sum.add(wal[frame + frameHeaderSize..<frame + frameHeaderSize + pageSize])
      sum.store(in: &wal, at: frame + 16)
      frame += frameHeaderSize + pageSize
    }
  }

  private struct Sum {
    let isBigEndian: Bool
    var first: UInt32 = 0
    var second: UInt32 = 0

    mutating func add(_ bytes: ArraySlice<UInt8>) {
      var index = bytes.startIndex
      while index + 8 <= bytes.endIndex {
        first &+= word(bytes, index) &+ second
        second &+= word(bytes, index + 4) &+ first
        index += 8
      }
    }

    private func word(_ bytes: ArraySlice<UInt8>, _ index: Int) -> UInt32 {
      let word = bytes[index..<index + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
      return isBigEndian ? word : word.byteSwapped
    }

    func store(in bytes: inout [UInt8], at index: Int) {
      for (place, word) in [first, second].enumerated() {
        for byte in 0..<4 { bytes[index + 4 * place + byte] = UInt8(truncatingIfNeeded: word >> (24 - 8 * byte)) }
      }
    }
  }
}
