import Foundation

/// The files after a cut.
struct DiskImage {
  /// The files, sorted by name.
  private(set) var files: [(name: String, bytes: Bytes)]

  /// Equal for equal images.
  ///
  /// With the 128 bits of two hashes, a collision is practically impossible.
  var fingerprint: Fingerprint {
    var first = Hasher()
    var second = Hasher()
    second.combine(1)
    for (name, bytes) in files {
      first.combine(name)
      second.combine(name)
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

  /// The files in a folder.
  init(of folder: String) throws {
    let names = try FileManager.default.contentsOfDirectory(atPath: folder)
    self.init(files: try names.map { ($0, Bytes(Array(try Data(contentsOf: URL(filePath: folder + "/" + $0))))) })
  }

  /// Creates a folder with the files.
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
