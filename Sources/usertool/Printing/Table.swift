/// Columns of text, each as wide as its widest cell.
struct Table {
  struct Cell {
    let text: String
    /// What follows the text and takes `tailColumns` columns when it is there: a patch of colour.
    let tail: String
    let isNumber: Bool

    init(_ text: String, tail: String = "", isNumber: Bool = false) {
      self.text = text
      self.tail = tail
      self.isNumber = isNumber
    }

    static let tailColumns = 3
    var columns: Int { text.columns + (tail.isEmpty ? 0 : Self.tailColumns) }
  }

  private let header: [String]
  private var rows: [[Cell]] = []

  init(header: [String]) {
    self.header = header
  }

  mutating func add(_ row: [Cell]) {
    rows.append(row)
  }

  func lines(_ style: Style) -> [String] {
    let widths = header.indices.map { column in
      rows.reduce(header[column].columns) { max($0, $1[column].columns) }
    }
    let areNumbers = header.indices.map { column in rows.allSatisfy { $0[column].isNumber || $0[column].text.isEmpty } }
    let titles = style.dim(line(header.map { Cell($0) }, widths, areNumbers))
    return [titles] + rows.map { line($0, widths, areNumbers) }
  }

  private func line(_ cells: [Cell], _ widths: [Int], _ areNumbers: [Bool]) -> String {
    var line = ""
    for (index, cell) in cells.enumerated() {
      let padding = String(repeating: " ", count: widths[index] - cell.columns)
      line += (index > 0 ? "  " : "") + (areNumbers[index] ? padding + cell.text : cell.text) + cell.tail
      if !areNumbers[index], index < cells.count - 1 { line += padding }
    }
    return line
  }
}
