#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Paths as text, and following links.
extension Files {
  /// Whether relative paths mean something: the current folder may have been removed.
  static var hasCurrentFolder: Bool { resolved(".") != nil }

  /// Returns an absolute path without links, also of a file that is missing, in a folder that may be missing too.
  ///
  /// A link that leads nowhere is followed to where the file would be.
  static func canonical(_ path: String) throws(SystemError) -> String {
    if let whole = resolved(path) { return whole }
    guard errno == ENOENT, path != "." else { throw SystemError(operation: "access \(path)") }
    let (folder, name) = split(path)
    if let target = linkTarget(path) { return try canonical(target.hasPrefix("/") ? target : folder + "/" + target) }
    let parent = try canonical(withoutSlashes(folder))
    return parent == "/" ? "/" + name : parent + "/" + name
  }

  /// Where a link leads, as it is written in the link; nil for anything else.
  private static func linkTarget(_ path: String) -> String? {
    var bytes: [CChar] = Array(repeating: 0, count: Int(PATH_MAX))
    let count = unsafe readlink(path, &bytes, bytes.count)
    return count < 0 ? nil : String(validating: bytes[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// The longest name in a folder, in bytes.
  static func longestName(in folder: String) -> Int {
    let limit = unsafe pathconf(folder, Int32(_PC_NAME_MAX))
    return limit > 0 ? Int(limit) : 255
  }

  private static func resolved(_ path: String) -> String? {
    guard let resolved = unsafe realpath(path, nil) else { return nil }
    defer { unsafe free(resolved) }
    if let text = unsafe String(validatingCString: resolved) { return text }
    // A folder on the way has a name that no text here can hold.
    errno = EILSEQ
    return nil
  }

  /// Returns the folder and the last part of a path.
  package static func split(_ path: String) -> (folder: String, name: String) {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return (".", path) }
    let folder = String(path[..<slash])
    return (folder.isEmpty ? "/" : folder, String(path[path.utf8.index(after: slash)...]))
  }

  /// Returns the path without the slashes at its end.
  static func withoutSlashes(_ path: String) -> String {
    var path = path
    while path.utf8.count > 1, path.utf8.last == UInt8(ascii: "/") { path.removeLast() }
    return path
  }

  /// Returns a new name beside a file, for what will replace it or become it: `NAME.….partial`.
  ///
  /// NAME is shortened if necessary, so that a file whose name fits has a draft whose name fits too. The path has at most
  /// `longest` bytes, and `addition` more bytes can be added to the name.
  package static func draft(of path: String, addition: Int = 0, longest: Int = Int(PATH_MAX) - 1) -> String {
    let (folder, name) = split(path)
    let suffix = "." + String(UInt64.random(in: .min ... .max), radix: 36) + ".partial"
    let beside = folder == "/" ? "/" : folder + "/"
    let room = min(longestName(in: folder) - addition, longest - beside.utf8.count) - suffix.utf8.count
    var start = name.unicodeScalars
    while start.count > 1, String(start).utf8.count > room { start.removeLast() }
    return beside + String(start) + suffix
  }
}
