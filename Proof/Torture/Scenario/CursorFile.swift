import Glibc

/// A file with a cursor, which is replaced atomically.
struct CursorFile {
  struct Failure: Error {
    let number: Int32
  }

  let path: String

  func save(_ cursor: String) throws {
    let draft = path + ".draft"
    try write(cursor, to: draft)
    try check(unsafe rename(draft, path))
    let folder = try check(unsafe open(String(path[..<path.lastIndex(of: "/")!]), O_RDONLY | O_CLOEXEC))
    defer { close(folder) }
    try check(fsync(folder))
  }

  private func write(_ text: String, to file: String) throws {
    let descriptor = try check(unsafe open(file, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0o600))
    defer { close(descriptor) }
    var rest = Array(text.utf8)
    while !rest.isEmpty {
      let count = try check(Int32(unsafe Glibc.write(descriptor, rest, rest.count)))
      rest.removeFirst(Int(count))
    }
    try check(fsync(descriptor))
  }

  @discardableResult
  private func check(_ result: Int32) throws -> Int32 {
    if result < 0 { throw Failure(number: errno) }
    return result
  }
}
