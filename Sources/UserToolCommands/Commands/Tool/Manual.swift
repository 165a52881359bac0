import ArgumentParser
import UserStoreText

struct ManualCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "man",
    abstract: "Print the manual page.",
    usage: "usertool man [<options>]",
    discussion: """
      Examples:
        usertool man | man -l -
        usertool man > /usr/local/share/man/man1/usertool.1
      """)

  @OptionGroup var common: CommonOptions

  func run() throws {
    Output.print(ManualPage(UserTool.self).lines)
  }
}

/// The manual page, generated from the `--help` texts, so that there is only one text to maintain.
struct ManualPage {
  private(set) var lines: [String] = []

  struct Entry: Equatable {
    let term: String
    let description: String
  }

  init(_ root: any ParsableCommand.Type) {
    let configuration = root.configuration
    let name = root._commandName
    lines.append(".TH \(name.uppercased()) 1 \"\" \"\(name) \(configuration.version)\" \"User Commands\"")
    section("NAME")
    lines.append("\(name) \\- \(Self.escaped(configuration.abstract))")
    section("SYNOPSIS")
    lines.append("\\fB\(name)\\fR \\fIcommand\\fR [\\fIoptions\\fR]")
    section("DESCRIPTION")
    discussion(configuration.discussion)
    let commands = configuration.subcommands.map { command in
      (command, entries: Self.entries(root.helpMessage(for: command, columns: 10_000)))
    }
    // Excludes serve, whose options belong to another program.
    let own = commands.map(\.entries).filter { $0.contains { $0.term.hasPrefix("--db") } }
    let common = own.first?.filter { entry in own.allSatisfy { $0.contains(entry) } } ?? []
    section("COMMON OPTIONS")
    append(common)
    section("COMMANDS")
    for (command, entries) in commands { append(command, entries.filter { !common.contains($0) }) }
    section("FILES")
    lines += [
      ".TP", "\\fI~/.local/share/\(name)/users.db\\fR",
      "The database, unless \\fB\\-\\-db\\fR, \\fBUSERTOOL_DB\\fR or \\fBXDG_DATA_HOME\\fR specifies another.",
    ]
  }

  private mutating func append(_ command: any ParsableCommand.Type, _ entries: [Entry]) {
    lines.append(".SS \(command._commandName)")
    lines.append(Self.escaped(command.configuration.abstract))
    lines += [".PP", ".nf", Self.escaped(command.configuration.usage ?? command._commandName), ".fi"]
    discussion(command.configuration.discussion)
    append(entries)
  }

  private mutating func append(_ entries: [Entry]) {
    for entry in entries { lines += [".TP", "\\fB\(Self.escaped(entry.term))\\fR", Self.escaped(entry.description)] }
  }

  private mutating func section(_ title: String) {
    lines.append(".SH \(title)")
  }

  /// Appends paragraphs; indented lines keep their line breaks.
  private mutating func discussion(_ text: String) {
    var isIndented = false
    lines.append(".PP")
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      if line.hasPrefix("  ") != isIndented {
        isIndented.toggle()
        lines.append(isIndented ? ".nf" : ".fi")
      }
      lines.append(line.isEmpty ? ".PP" : Self.escaped(String(line)))
    }
    if isIndented { lines.append(".fi") }
  }

  /// Parses the ARGUMENTS and OPTIONS of a help text.
  ///
  /// A line has two spaces, the term, and the description from column 26 on. After a longer term, the description is on the next
  /// line, which begins with more than two spaces.
  static func entries(_ help: String) -> [Entry] {
    var entries: [Entry] = []
    var isEntry = false
    for line in help.split(separator: "\n") {
      if !line.hasPrefix(" ") { isEntry = line == "ARGUMENTS:" || line == "OPTIONS:" }
      guard isEntry, line.hasPrefix("  ") else { continue }
      if line.hasPrefix("   "), let last = entries.popLast() {
        let rest = line.drop { $0 == " " }
        entries.append(Entry(term: last.term, description: last.description + rest))
        continue
      }
      let (term, description) = (line.prefix(descriptionColumn), line.dropFirst(descriptionColumn))
      // A long term continues with a name or a value after a space.
      let isLong = term.last != " " || description.first.map { "<-".contains($0) } ?? true
      entries.append(
        Entry(term: String(isLong ? line : term).trimmed, description: isLong ? "" : String(description)))
    }
    return entries
  }

  private static let descriptionColumn = 26

  /// Escapes the formatter's instructions, and makes hyphens print as ASCII hyphens.
  private static func escaped(_ text: String) -> String {
    let escaped = text.replacing("\\", with: "\\e").replacing("-", with: "\\-")
    return escaped.hasPrefix(".") || escaped.hasPrefix("'") ? "\\&" + escaped : escaped
  }
}
