import UserStore

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The system's iconv.
extension System {
  @safe final class Converter {
    private let handle: iconv_t
    /// The encoding's unit in bytes, which is skipped if it is invalid.
    private let unit: Int
    /// The start of a character whose rest is in the next piece.
    private var pending: [UInt8] = []

    /// Opens a converter; nil if the system does not know the encoding.
    init?(from encoding: String) {
      let handle = unsafe iconv_open("UTF-8", encoding)
      // The pointer −1 is an error.
      guard let opened = unsafe handle as iconv_t?, Int(bitPattern: opened) != -1 else { return nil }
      unsafe self.handle = opened
      unit = Self.unit(of: encoding)
    }

    private static func unit(of encoding: String) -> Int {
      let name = encoding.uppercased().filter { $0 != "-" && $0 != "_" }
      if ["UTF16", "UCS2"].contains(where: name.hasPrefix) { return 2 }
      return ["UTF32", "UCS4"].contains(where: name.hasPrefix) ? 4 : 1
    }

    deinit {
      _ = unsafe iconv_close(handle)
    }

    /// The next piece in UTF-8; an empty piece is the end.
    ///
    /// Invalid input becomes the byte 0xFF, which is invalid in UTF-8.
    func convert(_ piece: [UInt8]) -> [UInt8] {
      if piece.isEmpty {
        defer { pending = [] }
        return pending.isEmpty ? [] : [0xFF]
      }
      var input = pending + piece
      pending = []
      var output: [UInt8] = []
      var position = 0
      while position < input.count {
        let error = step(&input, &position, &output)
        if error == EINVAL {
          pending = Array(input[position...])
          return output
        }
        if error == EILSEQ {
          output.append(0xFF)
          position = min(input.count, position + unit)
        }
      }
      return output
    }

    /// Converts up to 64 KiB from `position` on; returns the error that ended it, 0 at the end of the input.
    private func step(_ input: inout [UInt8], _ position: inout Int, _ output: inout [UInt8]) -> Int32 {
      let start = position
      var inputLeft = input.count - start
      var error: Int32 = 0
      output += unsafe [UInt8](unsafeUninitializedCapacity: 1 << 16) { target, count in
        var outputLeft = target.count
        unsafe input.withUnsafeMutableBytes { source in
          var from = unsafe source.baseAddress.map { unsafe ($0 + start).assumingMemoryBound(to: CChar.self) }
          let room = UnsafeMutableRawPointer(target.baseAddress)
          var to = unsafe room.map { unsafe $0.assumingMemoryBound(to: CChar.self) }
          let result = unsafe iconv(handle, &from, &inputLeft, &to, &outputLeft)
          if Int(truncatingIfNeeded: result) == -1 { error = errno }
        }
        count = target.count - outputLeft
      }
      position = input.count - inputLeft
      return error
    }
  }
}
