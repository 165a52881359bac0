import Foundation

/// How the tests, and the tool with them, were built.
enum Sanitizer {
  /// The thread sanitizer has a thread of its own, which wakes by itself, and makes a process slow to start.
  static let isThread = unsafe dlsym(nil, "__tsan_init") != nil

  /// Any of them takes memory of its own for whatever the tool takes.
  static let isAny = unsafe isThread || dlsym(nil, "__asan_init") != nil
}
