/// What a terminal of some size shows, with the control codes that the tool writes; like a real one, it wraps long lines
/// unless that is turned off, and scrolls.
struct TerminalScreen {
  private let columns: Int
  private let rows: Int
  /// A wide character takes two cells, the second of which is empty.
  private var cells: [[String]] = [[]]
  private var row = 0
  private var column = 0
  private var wraps = true
  private(set) var showsCursor = true
  /// The lines that have left the screen at its top.
  private(set) var history: [String] = []
  /// The text in reverse video.
  private(set) var marked: [String] = []
  private var isMarked = false

  init(columns: Int, rows: Int) {
    self.columns = columns
    self.rows = rows
  }

  init(_ bytes: [UInt8], columns: Int, rows: Int) {
    self.init(columns: columns, rows: rows)
    feed(bytes)
  }

  /// The lines, without the spaces at their ends and the empty lines at the bottom.
  var lines: [String] {
    var lines = cells.map { Self.trimmed($0) }
    while lines.last == "" { lines.removeLast() }
    return lines
  }

  private static func trimmed(_ cells: [String]) -> String {
    var cells = cells
    while cells.last == " " { cells.removeLast() }
    return cells.joined()
  }

  mutating func feed(_ bytes: [UInt8]) {
    var text = Substring(String(decoding: bytes, as: UTF8.self))
    while let character = text.popFirst() {
      switch character {
      case "\r": column = 0
      case "\n": lineFeed()
      // One character in Swift.
      case "\r\n":
        column = 0
        lineFeed()
      case "\u{1B}": control(&text)
      default: put(String(character))
      }
    }
  }

  private mutating func control(_ text: inout Substring) {
    guard text.popFirst() == "[" else { return }
    let parameter = text.prefix { !$0.isLetter }
    text = text.dropFirst(parameter.count)
    let number = Int(parameter) ?? 1
    switch (text.popFirst(), parameter) {
    case ("A", _): row = max(0, row - number)
    case ("B", _): row = min(rows - 1, row + number)
    case ("K", ""): if column < cells[row].count { cells[row].removeSubrange(column...) }
    case ("J", ""):
      if column < cells[row].count { cells[row].removeSubrange(column...) }
      cells.removeSubrange((row + 1)...)
    case ("l", "?7"): wraps = false
    case ("h", "?7"): wraps = true
    case ("l", "?25"): showsCursor = false
    case ("h", "?25"): showsCursor = true
    case ("m", "7"):
      isMarked = true
      marked.append("")
    case ("m", _): isMarked = false
    case (let letter, _): preconditionFailure("unknown control code \(parameter)\(letter ?? " ")")
    }
    while cells.count <= row { cells.append([]) }
  }

  private mutating func put(_ character: String) {
    if isMarked { marked[marked.count - 1] += character }
    let width = Self.isWide(character) ? 2 : 1
    if column + width > columns {
      if wraps {
        column = 0
        lineFeed()
      } else {
        column = max(0, columns - width)
      }
    }
    while cells[row].count < column + width { cells[row].append(" ") }
    cells[row][column] = character
    if width == 2 { cells[row][column + 1] = "" }
    column += width
  }

  private mutating func lineFeed() {
    if row < rows - 1 {
      row += 1
    } else {
      history.append(Self.trimmed(cells.removeFirst()))
    }
    while cells.count <= row { cells.append([]) }
  }

  private static func isWide(_ character: String) -> Bool {
    character.unicodeScalars.contains { (0x3041...0x9FFF).contains($0.value) || $0.properties.isEmojiPresentation }
  }
}
