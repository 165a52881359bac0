import Fuzzing
import Synchronization
import UserStore

@testable import UserToolCommands

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Command lines on a small store, with U+001F between arguments and U+001E between commands.
@main struct CommandLineTarget: FuzzTarget {
  static var seeds: [[UInt8]] {
    Examples.lines.map { line in
      let commands = line.split(separator: ";").map { $0.split(separator: " ").joined(separator: "\u{1F}") }
      return Array(commands.joined(separator: "\u{1E}").utf8)
    }
  }

  static let words = Examples.words

  /// Several commands, so that they depend on each other, but not many, because they take long.
  private static let limit = 6

  static func test(_ input: [UInt8]) {
    let path = Files.scratch + "/users.db"
    guard let template = Template.shared else { Findings.report("no template") }
    if input.contains(0) { return }
    Files.clear()
    try? Files.write(template, to: path)
    chdir(Files.scratch)
    setenv("USERTOOL_DB", path, 1)
    for command in input.split(separator: 0x1E).prefix(limit) {
      let arguments = command.split(separator: 0x1F, omittingEmptySubsequences: false)
      let texts = arguments.compactMap { String(validating: $0, as: UTF8.self) }
      if texts.count == arguments.count, isBounded(texts) { run(texts) }
    }
  }

  /// Whether a command ends without a signal and stays in the scratch folder.
  private static func isBounded(_ arguments: [String]) -> Bool {
    let leavesFolder = arguments.contains { $0.contains("/") || $0.contains("..") }
    let isEndless = arguments.contains { ["watch", "demo", "--busy-timeout"].contains($0.split(separator: "=").first) }
    return !leavesFolder && !isEndless
  }

  private static let statuses: Set<ExitStatus> = [
    .success, .failure, .notFound, .conflict, .busy, .history, .usage, .badData, .noInput, .cannotCreate, .noPermission,
  ]

  private static func run(_ arguments: [String]) {
    let done = DoneSignal()
    let captured = Captured {
      Task.detached { done.set(await UserTool.run(arguments[...])) }
      done.wait()
    }
    let status = done.status
    expect(statuses.contains(status), "\(arguments) ended with \(status)")
    let lines = captured.errors.split(separator: 0x0A).map { String(decoding: $0, as: UTF8.self) }
    // Candidates are separated by tabs.
    for part in lines.flatMap({ $0.split(separator: "\t") }) {
      Readable.check(String(part), "a message of \(arguments)")
    }
    let hasError = lines.contains { $0.hasPrefix("usertool: error: ") }
    expect(status != .success || !hasError, "\(arguments) succeeded with \(lines)")
    if arguments.first != "check" {
      expect(status == .success || hasError, "\(arguments) failed without a message: \(status)")
    }
  }
}

/// Waits for the end of a command.
private final class DoneSignal: @unchecked Sendable {
  // Unchecked: the semaphore orders the one write before the one read.
  private let semaphore: UnsafeMutablePointer<sem_t> = .allocate(capacity: 1)
  private(set) var status = ExitStatus.success

  init() { sem_init(semaphore, 0, 0) }

  deinit { semaphore.deallocate() }

  func set(_ status: ExitStatus) {
    self.status = status
    sem_post(semaphore)
  }

  func wait() {
    while sem_wait(semaphore) != 0 {}
  }
}
