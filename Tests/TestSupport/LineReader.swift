import Foundation

/// Reads a descriptor line by line.
package final class LineReader {
  private let descriptor: Int32
  private var buffer: [UInt8] = []
  private var start = 0
  private var isOpen = true

  package init(_ descriptor: Int32) {
    self.descriptor = descriptor
  }

  deinit {
    closeEnd()
  }

  /// The next line, as soon as it is there; nil at the end.
  package func next() -> String? {
    var searched = start
    while true {
      if let end = buffer[searched...].firstIndex(of: 0x0A) {
        defer { start = end + 1 }
        return String(decoding: buffer[start..<end], as: UTF8.self)
      }
      searched = buffer.count
      guard fill() else {
        defer { start = buffer.count }
        return start < buffer.count ? String(decoding: buffer[start...], as: UTF8.self) : nil
      }
    }
  }

  /// So many lines, or those that there are.
  package func next(_ count: Int) -> [String] {
    var lines: [String] = []
    while lines.count < count, let line = next() { lines.append(line) }
    return lines
  }

  /// Reads until a text has come that need not end a line, and takes nothing.
  ///
  /// - Returns: false when the end came first.
  package func wait(for text: String) -> Bool {
    while !String(decoding: buffer[start...], as: UTF8.self).contains(text) {
      guard fill() else { return false }
    }
    return true
  }

  /// All that is left.
  package func rest() -> [UInt8] {
    while fill() {}
    defer { start = buffer.count }
    return Array(buffer[start...])
  }

  /// The whole lines that are left; one that was cut in the middle is none.
  package func restOfLines() -> [String] {
    String(decoding: rest(), as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false).dropLast()
      .map(String.init)
  }

  /// Reads no more: who writes gets EPIPE.
  package func closeEnd() {
    if isOpen { close(descriptor) }
    isOpen = false
  }

  private func fill() -> Bool {
    guard isOpen else { return false }
    var bytes: [UInt8] = Array(repeating: 0, count: 65_536)
    var count = unsafe read(descriptor, &bytes, bytes.count)
    while count < 0, errno == EINTR { count = unsafe read(descriptor, &bytes, bytes.count) }
    if count <= 0 { return false }
    buffer += bytes[..<count]
    return true
  }
}
