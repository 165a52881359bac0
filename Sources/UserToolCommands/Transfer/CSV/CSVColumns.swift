import UserStore
import UserStoreText

/// The columns of a header line of CSV.
struct CSVColumns {
  struct Column {
    /// The field of the header line, without white space around it.
    let title: String
    /// nil without a title; then all fields of the column must be empty.
    var name: AttributeName?
    var isVerbatim = false
    /// nil if each field has its own type.
    var type: CSVType?
    fileprivate var isRenamed = false
  }

  /// The columns up to the last one with a name.
  private(set) var columns: [Column] = []
  /// The number of fields of the header line.
  let width: Int

  /// Reads the fields and applies the user's choices; errors have no position.
  init(_ fields: [String], _ choices: CSVChoices) throws(Failure) {
    width = fields.count
    columns = fields.map { field in
      let title = field.trimmed
      if title.isEmpty { return Column(title: title) }
      let (name, isVerbatim) = TransferName.decode(field, .csv)
      return Column(title: title, name: name, isVerbatim: isVerbatim)
    }
    // Spreadsheets also write delimiters after the last column.
    while let last = columns.last, last.name == nil { columns.removeLast() }
    for (title, use) in choices.columns { try apply(use, to: title) }
    try checkNames()
  }

  /// Whether the fields can be a header line: one is `name`, `id`, or a title that the user has given.
  static func areTitles(_ fields: [[UInt8]], _ choices: CSVChoices) -> Bool {
    let titles = fields.map { String(decoding: $0, as: UTF8.self).trimmed }
    let wanted = choices.columns.map(\.title)
    return titles.contains { wanted.contains($0) || ["name", "id"].contains($0.lowercased()) }
  }

  /// `column 3, after "age"`.
  func place(_ index: Int) -> String {
    let before = columns.prefix(index).last { $0.name != nil }
    return "column \(index + 1)" + (before.map { ", after \"\($0.title)\"," } ?? "")
  }

  // MARK: Choices

  private mutating func apply(_ use: CSVChoices.ColumnUse, to title: String) throws(Failure) {
    let wanted = title.trimmed
    let index = columns.firstIndex { $0.name != nil && $0.title.hasSameBytes(as: wanted) }
    guard let index else { throw noColumn(title) }
    switch use {
    case .type(let type):
      if let name = columns[index].name, name == "id" || AttributeName.builtIn.contains(name) {
        throw Failure(.usage, "the column \"\(title)\" is the \(name), which has its own type")
      }
      if let other = columns[index].type, other != type { throw twice(title, "types", other.rawValue, type.rawValue) }
      columns[index].type = type
    case .name(let name):
      if columns[index].isRenamed, let other = columns[index].name, other != name {
        throw twice(title, "names", other.text, name.text)
      }
      (columns[index].name, columns[index].isRenamed) = (name, true)
    }
  }

  private func twice(_ title: String, _ what: String, _ first: String, _ second: String) -> Failure {
    Failure(.usage, "the column \"\(title)\" has two \(what), \(first) and \(second): pass only one of them")
  }

  private func noColumn(_ title: String) -> Failure {
    let titles = columns.map(\.title).filter { !$0.isEmpty }
    return Failure(
      .usage, "there is no column \"\(title)\"" + Suggestion.question(for: title, among: titles),
      hint: "the columns are \(Self.list(titles))")
  }

  // MARK: Names

  private func checkNames() throws(Failure) {
    var known: [AttributeName: Column] = [:]
    for column in columns {
      guard let name = column.name else { continue }
      if let other = known.updateValue(column, forKey: name) { throw twice(name, other, column) }
    }
    if known[.name] == nil, known["id"] == nil { throw noName }
    // An export may contain attributes of other programs whose names the library refuses.
    for column in columns where !column.isVerbatim {
      guard let name = column.name else { continue }
      do throws(StoreError) { try name.check() } catch {
        let message = "the column \(Self.list([column.title])) cannot become an attribute: \(error.message)"
        // Arguments of programs cannot contain the zero character.
        let hint =
          column.title.utf8.contains(0)
          ? "change it in the header line"
          : "--rename \("\(column.title)=other".shellWord()) stores it as the attribute \"other\""
        throw Failure(.badData, message, hint: hint)
      }
    }
  }

  private func twice(_ name: AttributeName, _ first: Column, _ second: Column) -> Failure {
    let titles = first.title.hasSameBytes(as: second.title) ? "" : ": \"\(first.title)\" and \"\(second.title)\""
    // Suggests a new name for one of them, unless both have the same title.
    let other = [first, second].first { !$0.isRenamed && !titles.isEmpty }
    return Failure(
      .badData, "two columns are named \"\(name)\"" + titles,
      hint: other.map { "--rename \("\($0.title)=other".shellWord()) stores that column as the attribute \"other\"" }
        ?? "change one of them in the header line")
  }

  private var noName: Failure {
    let titles = columns.map(\.title).filter { !$0.isEmpty }
    let message = "the header line has no column \"name\" or \"id\"; its columns are \(Self.list(titles))"
    if titles.count < 2 {
      return Failure(.badData, message, hint: "--name-column or --delimiter says which column has the names")
    }
    let likely = titles.first { title in Self.nameWords.contains { title.lowercased().contains($0) } } ?? titles[0]
    return Failure(.badData, message, hint: "--name-column \(likely.shellWord()) takes the names from that column")
  }

  /// Parts of titles that mean a name in English, German, French, Spanish, Italian, and Japanese.
  private static let nameWords = ["name", "nom", "氏名", "名前"]

  private static func list(_ titles: [String]) -> String {
    let more = titles.count > 20 ? " and \(titles.count - 20) more" : ""
    return titles.prefix(20).map { "\"\($0.limited(to: 40))\"" }.joined(separator: ", ") + more
  }
}
