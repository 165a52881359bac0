import Foundation

/// Reads a file descriptor line by line.
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

  /// Waits for the next line; nil at the end of the input.
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

  /// Waits for `count` lines; returns fewer at the end of the input.
  package func next(_ count: Int) -> [String] {
    var lines: [String] = []
    while lines.count < count, let line = next() { lines.append(line) }
    return lines
  }

  /// Reads until `text` has arrived, even in the middle of a line, and consumes nothing.
  ///
  /// - Returns: False if the input ended first.
  package func wait(for text: String) -> Bool {
    while !String(decoding: buffer[start...], as: UTF8.self).contains(text) {
      guard fill() else { return false }
    }
    return true
  }

  /// Reads everything up to the end of the input.
  package func rest() -> [UInt8] {
    while fill() {}
    defer { start = buffer.count }
    return Array(buffer[start...])
  }

  /// Reads the remaining lines, without a truncated last line.
  package func restOfLines() -> [String] {
    String(decoding: rest(), as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false).dropLast()
      .map(String.init)
  }

  /// Closes the descriptor, so that the writer gets EPIPE.
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
