import CUserStoreSystem

/// The arguments of the program as the system passed them, without reading a file: `CommandLine` needs /proc on Linux.
package enum ProgramArguments {
  /// All of them; the first is the program's name.
  ///
  /// Bytes that are not UTF-8 are replaced. Empty if the system passed none, so that a program cannot know what it was asked to do.
  package static let all = unsafe pointers.map { unsafe String(cString: $0) }

  /// The index of the first argument that is not valid UTF-8.
  package static var firstInvalid: Int? { unsafe pointers.firstIndex { unsafe String(validatingCString: $0) == nil } }

  private static var pointers: [UnsafePointer<CChar>] {
    var count: Int32 = 0
    let first = unsafe userstore_arguments(&count)
    return unsafe (0..<Int(count)).compactMap { unsafe first?[$0].map { unsafe UnsafePointer($0) } }
  }
}
