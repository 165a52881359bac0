import UserStore
import UserStoreText

/// JSON lines: one object per line; empty lines are skipped.
struct JSONLines: RecordSource {
  private(set) var lines: LineReader

  init(_ lines: LineReader) {
    self.lines = lines
  }

  mutating func next() throws(Failure) -> SourceRecord? {
    while let line = try lines.next() {
      if line.isTooLong {
        let bad = BadRecord(line: line.number, lines.tooLong)
        return SourceRecord(line: line.number, text: nil, content: .failure(bad))
      }
      if line.bytes.allSatisfy({ [0x20, 0x09, 0x0D].contains($0) }) { continue }
      return SourceRecord(line: line.number, text: line.bytes, content: Self.content(of: line))
    }
    return nil
  }

  private static func field(_ member: JSONScanner.Members.Element) -> RecordContent.Field {
    let (name, isVerbatim) = TransferName.decode(member.name, .jsonl)
    return RecordContent.Field(name, member.value, isVerbatim: isVerbatim || member.isMarked)
  }

  private static func content(of line: SourceLine) -> Result<RecordContent, BadRecord> {
    var scanner = JSONScanner(line.bytes)
    do throws(JSONScanner.Mistake) {
      let fields = try scanner.record()
      do throws(TextError) {
        return .success(try RecordContent(fields.map(field)))
      } catch {
        return .failure(BadRecord(line: line.number, error.message))
      }
    } catch {
      return .failure(BadRecord(line: line.number, column: error.offset + 1, error.reason))
    }
  }
}
