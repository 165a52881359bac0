import Foundation
import TortureSupport

/// A process's operations on the files of a folder, and its announcements, in the order in which they took effect.
///
/// `Proof/Torture/Faults/README.md` describes the format.
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
    /// The number of the sync, from 1, as `FAULTS_AT` counts.
    let number: Int
    /// Whether the next operation copies pages into the database.
    let precedesCheckpoint: Bool
  }

  /// The store's own syncs, without those of foreign writes, whose failures the store cannot learn.
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
          syncs.append(Sync(number: number, precedesCheckpoint: true))
        } else {
          syncs.append(Sync(number: number, precedesCheckpoint: false))
        }
      default: break
      }
    }
    return syncs
  }

  /// The number of steps that are file operations.
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

    /// Reads a little-endian number, the byte order of the machine that wrote it.
    private mutating func number(_ size: Int) throws -> Int {
      Int(try take(size).reversed().reduce(0 as UInt64) { $0 << 8 | UInt64($1) })
    }
  }
}
