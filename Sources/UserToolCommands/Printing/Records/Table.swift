/// Columns of text, as wide as their widest cells, or narrower to fit a terminal.
struct Table {
  struct Cell {
    let text: String
    /// A patch of color after the text, `tailColumns` wide; or empty.
    let tail: String
    let isNumber: Bool
    let isMarked: Bool

    init(_ text: String, tail: String = "", isNumber: Bool = false, isMarked: Bool = false) {
      self.text = text
      self.tail = tail
      self.isNumber = isNumber
      self.isMarked = isMarked
    }

    static let tailColumns = 3
    var columns: Int { text.columns + tailWidth }
    private var tailWidth: Int { tail.isEmpty ? 0 : Self.tailColumns }

    func cut(to columns: Int) -> Cell {
      if self.columns <= columns { return self }
      // Drops the patch if it leaves no room for the text.
      let tail = tailWidth < columns ? tail : ""
      let room = tail.isEmpty ? columns : columns - tailWidth
      return Cell(text.cut(to: room), tail: tail, isNumber: isNumber, isMarked: isMarked)
    }
  }

  private let header: [String]
  private var rows: [[Cell]] = []

  private static let gap = 2
  private static let gapText = String(repeating: " ", count: gap)
  /// The width to which text is cut before whole attributes are folded.
  private static let cutColumns = 12
  private static let foldedColumns = 20
  /// The smallest width of a column of text; on a terminal too narrow for that, the last columns are left out.
  private static let fewestColumns = 4

  init(header: [String]) {
    self.header = header
  }

  mutating func add(_ row: [Cell]) {
    rows.append(row)
  }

  func lines(_ style: Style, within columns: Int? = nil) -> [String] {
    let widths = columns.map { fitted(to: $0) } ?? natural
    let areNumbers = header.indices.map { isNumber($0) }
    let titles = style.dim(line(header.map { Cell($0) }, widths, areNumbers, style))
    return [titles] + rows.map { line($0, widths, areNumbers, style) }
  }

  func turned(_ style: Style) -> [String] {
    let width = header.map(\.columns).max() ?? 0
    return rows.flatMap { row in
      zip(header, row).map { title, cell in
        style.dim(title.padded(to: width)) + "  " + cell.text + cell.tail
      }
    }
  }

  var columns: Int { sum(natural) }

  /// The number of leading columns that fit in a readable width, beside one column for the others.
  func fittingCount(in columns: Int, atLeast least: Int) -> Int {
    let widths = zip(natural, header.indices).map { isNumber($1) ? $0 : min($0, Self.cutColumns) }
    if sum(widths) <= columns { return widths.count }
    var count = min(least, widths.count)
    while count < widths.count, sum(widths.prefix(count + 1) + [Self.foldedColumns]) <= columns { count += 1 }
    return count
  }

  // MARK: Widths

  private var natural: [Int] {
    header.indices.map { column in rows.reduce(header[column].columns) { max($0, $1[column].columns) } }
  }

  private func isNumber(_ column: Int) -> Bool {
    rows.allSatisfy { $0[column].isNumber || $0[column].text.isEmpty }
  }

  /// The widths of the leading columns that fit; the widest columns of text are narrowed first.
  ///
  /// Numbers are cut only if not even the first column fits.
  private func fitted(to columns: Int) -> [Int] {
    let (natural, areNumbers) = (natural, header.indices.map { isNumber($0) })
    var most = columns
    func widths() -> [Int] { zip(natural, areNumbers).map { $1 ? $0 : min($0, most) } }
    while most > Self.fewestColumns, sum(widths()) > columns { most -= 1 }
    var fitted = widths()
    while fitted.count > 1, sum(fitted) > columns { fitted.removeLast() }
    return fitted.map { min($0, columns) }
  }

  private func sum(_ widths: some Collection<Int>) -> Int {
    widths.reduce(0, +) + Self.gap * max(0, widths.count - 1)
  }

  private func line(_ cells: [Cell], _ widths: [Int], _ areNumbers: [Bool], _ style: Style) -> String {
    var line = ""
    for (index, cell) in zip(widths.indices, cells) {
      let cell = cell.cut(to: widths[index])
      let padding = String(repeating: " ", count: widths[index] - cell.columns)
      line += index > 0 ? Self.gapText : ""
      if cell.isMarked, style.isColored {
        // Includes the padding: a removed value leaves nothing else to mark.
        line += style.mark(areNumbers[index] ? padding + cell.text : cell.text + padding) + cell.tail
      } else {
        line += (areNumbers[index] ? padding + cell.text : cell.text) + cell.tail
        if !areNumbers[index], index < widths.count - 1 { line += padding }
      }
    }
    return line
  }
}
