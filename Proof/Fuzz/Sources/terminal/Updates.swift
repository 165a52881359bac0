import Foundation
import Fuzzing
import UserStore
import UserStoreText

@testable import UserToolCommands

/// Updates as `watch` and `log` print them, and messages on standard error.
enum Updates {
  static func check(_ fields: [Field]) {
    let entries = fields.enumerated().map { index, field in
      Entry(of: UserStore.User.ID(1), AttributeName(field.name), field.value, at: Int64(index) << 40)
    }
    let standIns = fields.map { StandIn($0.name, AttributeName($0.name)) } + [StandIn("all", nil)]
    checkReadable(entries, nil)
    checkReadable(entries, standIns)
    checkLines(entries, standIns)
    for field in fields { checkMessage(field) }
  }

  private static func printed(_ entries: [Entry], _ standIns: [StandIn]?, _ format: OutputFormat) -> [UInt8] {
    Captured {
      var printer = StreamPrinter(
        format, to: Output(), Style(.never, isTerminal: false), filter: Filter(), standIns: standIns, showsDate: true)
      printer.print(entries, at: nil, to: standIns)
      printer.end()
    }.output
  }

  private static func checkReadable(_ entries: [Entry], _ standIns: [StandIn]?) {
    let bytes = printed(entries, standIns, .table)
    let lines = bytes.split(separator: 0x0A)
    for line in lines { Readable.check(String(decoding: line, as: UTF8.self), "\(entries)") }
    if standIns == nil { expect(lines.count == entries.count, "\(entries): \(lines.count) lines") }
  }

  private static func checkLines(_ entries: [Entry], _ standIns: [StandIn]) {
    for line in printed(entries, standIns, .jsonl).split(separator: 0x0A) {
      Layouts.checkObject(Data(line), "an update")
    }
  }

  private static func checkMessage(_ field: Field) {
    let failure = Failure(.notFound, "no user \"\(field.value.bare)\"", hint: field.name)
    let bytes = Captured { Messages.shared.report(failure) }.errors
    let lines = bytes.split(separator: 0x0A)
    expect(lines.count == 2, "\(failure): \(lines.count) lines")
    for line in lines { Readable.check(String(decoding: line, as: UTF8.self), "\(failure)") }
  }
}
