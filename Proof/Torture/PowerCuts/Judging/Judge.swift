import Foundation
import TortureSupport

/// A child process that checks images, with a queue of images that wait for it.
final class Judge {
  /// An image to check.
  struct Case {
    let image: DiskImage
    let folder: String
    let claims: Int
    let seed: UInt64
    /// A description of the cut, for people.
    let story: String
  }

  private let command: [String]
  private let group: pid_t
  private var child: Child
  private var waiting: [Case] = []

  init(_ rules: JudgeProcess.Rules, recording: String, group: pid_t) throws {
    command = ["/proc/self/exe", "--judge", "\(rules.word):\(recording)"]
    self.group = group
    child = try Self.start(command, group)
  }

  private static func start(_ command: [String], _ group: pid_t) throws -> Child {
    let executable = try FileManager.default.destinationOfSymbolicLink(atPath: command[0])
    return try Child([executable] + command.dropFirst(), environment: ProcessInfo.processInfo.environment, group: group)
  }

  var isEmpty: Bool { waiting.isEmpty }
  var count: Int { waiting.count }

  func submit(_ image: Case) {
    waiting.append(image)
    child.type("\(image.folder) \(image.claims) \(image.seed)\n")
  }

  /// Waits for the verdict on the oldest image.
  ///
  /// An image that crashes the child violates a promise.
  func next() throws -> (image: Case, verdict: Verdict) {
    let line = child.output.next()
    let image = waiting.removeFirst()
    if let line {
      guard let verdict = Verdict(line) else { throw TortureError("a judge printed “\(line)”") }
      return (image, verdict)
    }
    var verdict = Verdict()
    let errors = String(decoding: child.errors.rest(), as: UTF8.self).prefix(400)
    verdict.violations.append((.opens, "the process ended with \(child.wait()): \(errors)"))
    child = try Self.start(command, group)
    for image in waiting { child.type("\(image.folder) \(image.claims) \(image.seed)\n") }
    return (image, verdict)
  }
}
