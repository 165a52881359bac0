import Fuzzing
import UserStore
import UserStoreText

/// Records as JSON, as a server reads and writes them.
enum RecordTexts {
  static func test(_ input: [UInt8]) {
    do throws(TextError) {
      let record = try RecordText.record(input)
      let id = record.id.map { ["\"id\":\($0)"] } ?? []
      let values = record.values.map { RecordText.json($0.attribute.text) + ":" + $0.value.json }
      let text = "{" + (id + values).joined(separator: ",") + "}"
      let again = try RecordText.record(text.utf8)
      expect(again.id == record.id && again.values.elementsEqual(record.values, by: ==), "\(text) is another record")
      let member = try RecordText.records("{\"set\":{\(values.joined(separator: ","))}}".utf8, named: ["set"])
      expect(member["set"]?.elementsEqual(record.values, by: ==) ?? false, "\(text) is another record in an object")
    } catch {
      expect(error.range == nil && error.message.utf8.count < 2_000, "\(error)")
    }
  }
}

/// Queries as text: a condition, a sort key, and a place, in lines.
enum QueryTexts {
  private static let store = try? UserStore.inMemory()

  static func test(_ input: [UInt8]) {
    guard let lines = String(validating: input, as: UTF8.self)?.split(separator: "\n", omittingEmptySubsequences: false)
    else { return }
    var text = QueryText()
    text.conditions = lines.prefix(1).map(String.init).filter { !$0.isEmpty }
    text.order = lines.dropFirst().prefix(1).map(String.init).filter { !$0.isEmpty }
    text.place = lines.dropFirst(2).first.map(String.init)
    for notation in [QueryNotation.options, .parameters] {
      do {
        let query = try text.query(notation)
        try store?.read { users in
          try text.check(notation, in: &users)
          _ = try users.users(matching: query)
        }
      } catch let error as TextError {
        let count = error.text?.unicodeScalars.count ?? 0
        expect(error.range.map { $0.upperBound <= count } ?? true, "\(text): \(error), \(error.range ?? 0..<0)")
      } catch let error as StoreError {
        expect(error.code == .badValue, "\(text): \(error.code) \(error)")
      } catch {
        Findings.report("\(text): \(error)")
      }
    }
  }
}
