import UserStore
import UserStoreText

/// JSON lines: one object per line; empty lines are skipped.
struct JSONLines: RecordSource {
  private var lines: LineReader

  init(_ lines: LineReader) {
    self.lines = lines
  }

  var offset: Int64 { lines.offset }

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

  private static func content(of line: SourceLine) -> Result<RecordContent, BadRecord> {
    var scanner = JSONScanner(line.bytes)
    do throws(JSONScanner.Mistake) {
      let fields = try scanner.record()
      do throws(TextError) {
        return .success(try RecordContent(fields.map { (AttributeName(typed: $0.name), $0.value) }))
      } catch {
        return .failure(BadRecord(line: line.number, error.message))
      }
    } catch {
      return .failure(BadRecord(line: line.number, column: error.offset + 1, error.reason))
    }
  }
}
