import UserStore

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Other programs.
extension System {
  /// Where a program may be: beside this one, if the system says where that is, and then in the folders of PATH.
  static func places(of program: String) -> [String] {
    let own = ownPath.map { path in String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]) }
    let folders = environment("PATH")?.split(separator: ":").map(String.init) ?? []
    return ([own].compactMap { $0 } + folders).map { $0 + "/" + program }
  }

  private static var ownPath: String? {
    #if canImport(Darwin)
      var size = UInt32(PATH_MAX)
      var bytes = [CChar](repeating: 0, count: Int(size))
      guard unsafe _NSGetExecutablePath(&bytes, &size) == 0 else { return nil }
      return unsafe String(cString: bytes)
    #else
      var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
      let count = unsafe readlink("/proc/self/exe", &bytes, bytes.count)
      if count > 0 { return String(decoding: bytes.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self) }
      // Without /proc: what the program was started with, unless that is a name that was looked up in PATH.
      return ProgramArguments.all.first.flatMap { $0.contains("/") ? $0 : nil }
    #endif
  }

  /// Runs a program in place of this one; returns if there is none at the path.
  static func replaceProcess(by path: String, _ arguments: [String]) {
    // The program would inherit it. Handlers end with this program.
    signal(SIGPIPE, SIG_DFL)
    ignoredAtStart.forEach(ignore)
    var words: [UnsafeMutablePointer<CChar>?] = unsafe ([path] + arguments).map { unsafe strdup($0) } + [nil]
    unsafe execv(path, &words)
    unsafe words.forEach { word in unsafe free(word) }
    ignore(SIGPIPE)
  }
}
