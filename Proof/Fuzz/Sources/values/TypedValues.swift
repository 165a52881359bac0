import Fuzzing
import UserStore
import UserStoreText

@testable import UserToolCommands

/// `k=v` on the command line.
enum TypedValues {
  /// One store for all inputs, whose writes are rolled back.
  private static let store = try? UserStore.inMemory()

  static func test(_ input: [UInt8]) {
    guard let text = String(validating: input, as: UTF8.self), let assignment = Assignment(argument: text) else {
      return
    }
    do {
      let value = try assignment.value()
      try store?.write { users in
        let id = try users.add(name: "N")
        let changes = try users.pendingChanges.count
        try users.set(assignment.attribute, of: id, to: value)
        if try users.pendingChanges.count > changes {
          check(try users.storedValue(assignment.attribute, of: id), of: assignment, typed: value)
        }
        throw RolledBack()
      }
    } catch is RolledBack {
    } catch let error as TextError {
      expect(error.kind == .value, "\(text.debugDescription): \(error)")
    } catch let error as StoreError {
      expect(error.code == .badValue, "\(text.debugDescription): \(error.code) \(error)")
    } catch {
      Findings.report("\(text.debugDescription): \(error)")
    }
  }

  private struct RolledBack: Error {}

  private static func check(_ stored: StoredValue, of assignment: Assignment, typed: StoredValue) {
    expect(stored == typed, "\(assignment) was stored as \(stored)")
    if assignment.isText { expect(stored == .text(assignment.text), "\(assignment) is not text: \(stored)") }
    Forms.check(stored, of: assignment.attribute)
  }
}

/// The forms in which a stored value is printed and read again.
enum Forms {
  static func check(_ value: StoredValue, of attribute: AttributeName) {
    checkTyped(value, of: attribute)
    checkCSV(value, of: attribute)
    checkJSON(value)
    Readable.check(value.shown, "\(value) as it is shown")
    Readable.check(value.quoted, "\(value) in quotes")
  }

  /// Checks that a printed value, typed again, is the same value.
  ///
  /// Text is typed with `:=`.
  private static func checkTyped(_ value: StoredValue, of attribute: AttributeName) {
    if attribute == .name || attribute == .hairColor { return }
    if case .text(let text) = value {
      let again = Assignment(argument: "k:=" + text)
      expect((try? again?.value()) == value, "k:=\(text.debugDescription) is another value")
    } else {
      expect((try? TypedText.value(of: value.bare)) == value, "\(value.bare) is another value than \(value)")
    }
  }

  static func checkCSV(_ value: StoredValue, of attribute: AttributeName) {
    let bytes = CSVField.encode(value, of: attribute)
    guard let field = String(validating: bytes, as: UTF8.self) else { Findings.report("\(value): CSV \(bytes)") }
    let again = (try? CSVField.decode(field, of: attribute))?.value
    expect(again == value, "\(value) in CSV is \(field.debugDescription), which is read as \(again ?? .null)")
    var scanner = CSVScanner()
    for line in CSV.bytes([bytes, [0x78]]).split(separator: 0x0A, omittingEmptySubsequences: false) {
      do { if try scanner.feed(line) { break } } catch { Findings.report("\(value) in CSV: \(error)") }
    }
    expect(scanner.fields == [bytes, [0x78]], "\(value) in CSV is read as \(scanner.fields)")
  }

  static func checkJSON(_ value: StoredValue) {
    let line = JSON.object([("k", value.jsonValue)]).bytes
    var scanner = JSONScanner(line[...])
    let again = try? scanner.record().first?.value
    expect(again == value, "\(value) in JSON is \(String(decoding: line, as: UTF8.self))")
  }
}
