#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#endif

/// Functions for whole files, and a folder in memory for them.
public enum Files {
  struct Failed: Error {
    let path: String
    let number: Int32
  }

  /// A folder of this process, in memory if the system has a place for that.
  public static let scratch: String = {
    let base = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"
    let folder = "\(base)/userstore-fuzz-\(getpid())"
    mkdir(folder, 0o700)
    atexit { Files.removeScratch() }
    return folder
  }()

  private static func removeScratch() {
    for name in names(in: scratch) { unlink(scratch + "/" + name) }
    rmdir(scratch)
  }

  /// Removes all files in the scratch folder.
  public static func clear() {
    for name in names(in: scratch) { unlink(scratch + "/" + name) }
  }

  /// Opens an unnamed file.
  public static func openTemporary() -> Int32 {
    let path = scratch + "/temporary"
    defer { unlink(path) }
    return open(path, O_RDWR | O_CREAT | O_TRUNC, 0o600)
  }

  /// The content of a file, or nil if it cannot be opened.
  public static func read(_ path: String) -> [UInt8]? {
    let descriptor = open(path, O_RDONLY)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    return read(descriptor)
  }

  /// The content of an open file, from its start.
  static func read(_ descriptor: Int32) -> [UInt8] {
    var status = stat()
    fstat(descriptor, &status)
    let size = Int(status.st_size)
    return [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      count = max(0, pread(descriptor, buffer.baseAddress, size, 0))
    }
  }

  /// Creates or overwrites a file.
  public static func write(_ bytes: [UInt8], to path: String) throws {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    guard descriptor >= 0 else { throw Failed(path: path, number: errno) }
    defer { close(descriptor) }
    try write(bytes, to: descriptor)
  }

  /// Writes all bytes to a descriptor.
  public static func write(_ bytes: [UInt8], to descriptor: Int32) throws {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { systemWrite(descriptor, $0.baseAddress, $0.count) }
      guard count > 0 else { throw Failed(path: "a descriptor", number: errno) }
      rest = rest.dropFirst(count)
    }
  }

  /// The names of the entries in a folder.
  public static func names(in folder: String) -> [String] {
    guard let stream = opendir(folder) else { return [] }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names.sorted()
  }
}

/// The system's `write`, which the methods' name hides.
private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
  write(descriptor, bytes, count)
}
