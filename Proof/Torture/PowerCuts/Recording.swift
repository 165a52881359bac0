import Foundation
import TortureSupport

/// What a process did to the files of a folder, and what it announced, in the order in which it took effect.
///
/// `Proof/Torture/Faults/README.md` says how it is written.
struct Recording {
  enum Step {
    case create(String)
    case write(String, at: Int, [UInt8])
    case resize(String, to: Int)
    case sync(String)
    case failedSync(String)
    case syncFolder(String)
    case remove(String)
    case rename(String, to: String)
    case link(String, to: String)
    case announce([Announcement])
  }

  struct Malformed: Error {
    let offset: Int
  }

  private(set) var steps: [Step] = []

  init(contentsOf path: String) throws {
    let bytes = try Array(Data(contentsOf: URL(filePath: path)))
    var reader = Reader(bytes: bytes)
    while !reader.isAtEnd { steps.append(try reader.step()) }
  }

  init(_ steps: [Step]) {
    self.steps = steps
  }

  /// A sync of a file.
  struct Sync {
    /// Counted from 1, as the faults count them.
    let number: Int
    /// Whether pages are copied into the database after it, and nothing else comes between.
    let begetsCheckpoint: Bool
  }

  /// The syncs of the store's own; those of another program's writes, the store can know nothing of.
  func syncs(of database: String) -> [Sync] {
    var (syncs, number, foreign) = ([Sync](), 0, String?.none)
    for (index, step) in steps.enumerated() {
      switch step {
      case .announce(let announcements):
        for announcement in announcements {
          switch announcement {
          case .begun(let name) where name.hasPrefix("f"): foreign = name
          case .done(let name), .failed(let name, _, _): if name == foreign { foreign = nil }
          default: break
          }
        }
      case .sync(let path):
        number += 1
        guard foreign == nil else { continue }
        var next: Step?
        for step in steps[index...] {
          if case .sync(path) = step { continue }
          if case .syncFolder = step { continue }
          next = step
          break
        }
        let isLog = path.hasSuffix("/\(database)-wal")
        if case .write(let written, _, _)? = next, isLog, written.hasSuffix("/\(database)") {
          syncs.append(Sync(number: number, begetsCheckpoint: true))
        } else {
          syncs.append(Sync(number: number, begetsCheckpoint: false))
        }
      default: break
      }
    }
    return syncs
  }

  /// How many of the steps did something to a file.
  var operations: Int {
    steps.count { if case .announce = $0 { false } else { true } }
  }

  private struct Reader {
    let bytes: [UInt8]
    var offset = 0

    var isAtEnd: Bool { offset == bytes.count }

    mutating func step() throws -> Step {
      let start = offset
      let letter = try UInt8(number(1))
      let path = String(decoding: try take(number(2)), as: UTF8.self)
      let place = try number(8)
      let data = try take(number(8))
      let text = String(decoding: data, as: UTF8.self)
      switch Character(UnicodeScalar(letter)) {
      case "c": return .create(path)
      case "w": return .write(path, at: place, Array(data))
      case "t": return .resize(path, to: place)
      case "s": return .sync(path)
      case "f": return .failedSync(path)
      case "D": return .syncFolder(path)
      case "u": return .remove(path)
      case "r": return .rename(path, to: text)
      case "l": return .link(path, to: text)
      case "a": return .announce(text.split(separator: "\n" as Character).compactMap { Announcement($0) })
      default: throw Malformed(offset: start)
      }
    }

    private mutating func take(_ count: Int) throws -> ArraySlice<UInt8> {
      guard count >= 0, count <= bytes.count - offset else { throw Malformed(offset: offset) }
      defer { offset += count }
      return bytes[offset..<offset + count]
    }

    /// Little-endian, as the machine that wrote it.
    private mutating func number(_ size: Int) throws -> Int {
      Int(try take(size).reversed().reduce(0 as UInt64) { $0 << 8 | UInt64($1) })
    }
  }
}
