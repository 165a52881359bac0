import Foundation

/// The sanitizer that the tests and the tool were built with.
package enum Sanitizer {
  /// The thread sanitizer has its own thread, which wakes periodically, and slows down the start of a process.
  package static let isThread = unsafe dlsym(nil, "__tsan_init") != nil

  /// Both sanitizers take additional memory for all memory that the tool takes.
  package static let isAny = unsafe isThread || dlsym(nil, "__asan_init") != nil
}
