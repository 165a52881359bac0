import Foundation

/// The files that are left after a cut.
struct DiskImage {
  /// By name, in order.
  private(set) var files: [(name: String, bytes: Bytes)]

  /// Equal for equal images; with 128 bits of two hashes nobody will see two different ones with the same.
  var fingerprint: Fingerprint {
    var first = Hasher()
    var second = Hasher()
    second.combine(1)
    for (name, bytes) in files {
      for value in [name] {
        first.combine(value)
        second.combine(value)
      }
      bytes.hash(into: &first)
      bytes.hash(into: &second)
    }
    return Fingerprint(first: first.finalize(), second: second.finalize())
  }

  struct Fingerprint: Hashable {
    let first, second: Int
  }

  init(files: [(name: String, bytes: Bytes)]) {
    self.files = files.sorted { $0.name < $1.name }
  }

  /// What lies in a folder.
  init(of folder: String) throws {
    let names = try FileManager.default.contentsOfDirectory(atPath: folder)
    self.init(files: try names.map { ($0, Bytes(Array(try Data(contentsOf: URL(filePath: folder + "/" + $0))))) })
  }

  /// Makes a folder of it.
  func lay(out folder: String) throws {
    guard unsafe mkdir(folder, 0o700) == 0 else { throw CocoaError(.fileWriteUnknown) }
    for (name, bytes) in files {
      let descriptor = unsafe open(folder + "/" + name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
      defer { close(descriptor) }
      let count = unsafe bytes.values.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
      guard count == bytes.count else { throw CocoaError(.fileWriteOutOfSpace) }
    }
  }
}
