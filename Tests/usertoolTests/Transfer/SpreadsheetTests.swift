import Foundation
import TestSupport
import Testing

/// Files as spreadsheets export them, byte for byte, on machines in several languages.
@Suite(.bounded, .serialized) struct `CSV of spreadsheets` {
  private struct Case {
    let what: String
    let bytes: Data
    var options: [String] = []
    /// What the import says of the file.
    var remark = ""
    let records: [String]
  }

  private static let german = [
    #"{"id":1,"name":"Zoë Müller","hair_color":null,"Betrag":1.5,"Kunde":1,"PLZ":"01067"}"#,
    #"{"id":2,"name":"Jürgen; Groß","hair_color":null,"Betrag":12.0,"Kunde":0,"PLZ":"80331"}"#,
  ]
  private static let germanOptions = ["--text", "PLZ", "--type", "Betrag=decimal-comma", "--type", "Kunde=boolean"]
  private static let germanText =
    "Name;PLZ;Betrag;Kunde\r\nZoë Müller;01067;1,5;WAHR\r\n\"Jürgen; Groß\";80331;12;FALSCH\r\n"

  private static let frenchText =
    "Nom;Téléphone;Note\r\nZoé Lefèvre;0612345678;12,5 €\r\nŒuvre;+33 6 12;\"a \"\"b\"\"\"\r\n"
  private static let french = [
    #"{"id":1,"name":"Zoé Lefèvre","hair_color":null,"Note":"12,5 €","Téléphone":"0612345678"}"#,
    #"{"id":2,"name":"Œuvre","hair_color":null,"Note":"a \"b\"","Téléphone":"+33 6 12"}"#,
  ]

  private static let japanese = [
    #"{"id":1,"name":"佐藤 花子","hair_color":null,"年齢":41,"電話":"03-1234-5678"}"#,
    #"{"id":2,"name":"ソ","hair_color":null,"年齢":7,"電話":"0312345678"}"#,
  ]
  private static let japaneseText = "氏名,年齢,電話\r\n佐藤 花子,41,03-1234-5678\r\nソ,7,0312345678\r\n"
  /// The same in CP932, in which the second byte of ソ is a backslash.
  private static let japaneseCP932 =
    Data([0x8E, 0x81, 0x96, 0xBC, 0x2C, 0x94, 0x4E, 0x97, 0xEE, 0x2C, 0x93, 0x64, 0x98, 0x62, 0x0D, 0x0A])
    + Data([0x8D, 0xB2, 0x93, 0xA1, 0x20, 0x89, 0xD4, 0x8E, 0x71]) + Data(",41,03-1234-5678\r\n".utf8)
    + Data([0x83, 0x5C]) + Data(",7,0312345678\r\n".utf8)

  /// Letters beyond ASCII in Windows-1252; all others of these texts have the same number in Unicode.
  private static func windows1252(_ text: String) -> Data {
    Data(text.unicodeScalars.map { $0 == "€" ? 0x80 : $0 == "Œ" ? 0x8C : UInt8($0.value) })
  }

  private static func utf16(_ text: String) -> Data {
    Data([0xFF, 0xFE]) + Data(text.utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] })
  }

  private static func swapped(_ data: Data) -> Data {
    var bytes = [UInt8](data)
    for index in stride(from: 0, to: bytes.count, by: 2) { bytes.swapAt(index, index + 1) }
    return Data(bytes)
  }

  private static let mark = Data([0xEF, 0xBB, 0xBF])
  private static let semicolons = "with a semicolon between the fields"

  private static let cases: [Case] = [
    Case(
      what: "Excel, German, CSV", bytes: windows1252(germanText), options: germanOptions,
      remark: "as Windows-1252 " + semicolons, records: german),
    Case(
      what: "Excel, German, CSV UTF-8", bytes: mark + Data(germanText.utf8), options: germanOptions, remark: semicolons,
      records: german),
    Case(
      what: "Excel, German, Unicode text",
      bytes: utf16(germanText.replacing(";", with: "\t").replacing("\t ", with: "; ")),
      options: germanOptions, remark: "as UTF-16LE with a tab between the fields", records: german),
    Case(
      what: "with sep=", bytes: windows1252("sep=;\r\n" + germanText), options: germanOptions,
      remark: "as Windows-1252 " + semicolons, records: german),
    Case(
      what: "LibreOffice, German: UTF-8, commas, line feeds, quotes around text",
      bytes: Data(
        "\"Name\",\"PLZ\",\"Betrag\",\"Kunde\"\n\"Zoë Müller\",\"01067\",\"1,5\",WAHR\n\"Jürgen; Groß\",80331,12,FALSCH\n"
          .utf8),
      options: germanOptions, records: german),
    Case(
      what: "Numbers, German: UTF-8, semicolons, no line feed at the end",
      bytes: Data(germanText.replacing("\r\n", with: "\n").utf8).dropLast(), options: germanOptions, remark: semicolons,
      records: german),
    Case(
      what: "Excel, French, CSV", bytes: windows1252(frenchText), options: ["--name-column", "Nom"],
      remark: "as Windows-1252 " + semicolons, records: french),
    Case(
      what: "Excel, French, Unicode text, big-endian", bytes: swapped(utf16(frenchText.replacing(";", with: "\t"))),
      options: ["--name-column", "Nom"], remark: "as UTF-16BE with a tab between the fields", records: french),
    Case(
      what: "Google Sheets, French: UTF-8, commas, no line feed at the end",
      bytes: Data(frenchText.replacing("12,5 €", with: "\"12,5 €\"").replacing(";", with: ",").utf8).dropLast(2),
      options: ["--name-column", "Nom"], records: french),
    Case(
      what: "Excel, Japanese, CSV", bytes: japaneseCP932,
      options: ["--encoding", "CP932", "--name-column", "氏名", "--text", "電話"], records: japanese),
    Case(
      what: "Excel, Japanese, CSV UTF-8", bytes: mark + Data(japaneseText.utf8),
      options: ["--name-column", "氏名", "--text", "電話"], records: japanese),
    Case(
      what: "Excel, Japanese, Unicode text", bytes: utf16(japaneseText.replacing(",", with: "\t")),
      options: ["--name-column", "氏名"], remark: "as UTF-16LE with a tab between the fields", records: japanese),
    Case(
      what: "a copy of cells", bytes: Data("Name\tAlter\nZoë\t41\n".utf8), remark: "with a tab between the fields",
      records: [#"{"id":1,"name":"Zoë","hair_color":null,"Alter":41}"#]),
  ]

  @Test func `every file is read as it was written, from a file and from a pipe`() throws {
    for sample in Self.cases {
      for isPiped in [false, true] {
        let workspace = try Workspace()
        try workspace.run("init")
        try workspace.write(sample.bytes, to: "in.csv")
        let path = workspace.folder + "/in.csv"
        let source = isPiped ? "cat '\(path)' | '\(Workspace.tool)' import - " : "'\(Workspace.tool)' import '\(path)' "
        let options = sample.options.map { "'\($0)'" }.joined(separator: " ")
        let outcome = try workspace.finish(["bash", "-c", source + options + (isPiped ? " --format csv" : "")])
        #expect(outcome.status == 0, "\(sample.what): \(outcome)")
        let remark = sample.remark.isEmpty ? "" : "reading \(isPiped ? "stdin" : path) \(sample.remark)\n"
        let expected = "\(remark)imported \(sample.records.count) users as one change set\n"
        #expect(outcome.errors.hasPrefix(remark) && outcome.errors.hasSuffix("set\n"), "\(sample.what): \(outcome)")
        if sample.options.contains("--text") || sample.options.isEmpty {
          #expect(outcome.errors == expected.replacing("1 users", with: "1 user"), "\(sample.what)")
        }
        #expect(try workspace.run("list", "--format", "jsonl").lines == sample.records, "\(sample.what)")
      }
    }
  }

  @Test func `Japanese in CP932 without --encoding is an error that says what to pass`() throws {
    let workspace = try Workspace()
    try workspace.write(Self.japaneseCP932, to: "in.csv")
    let outcome = try workspace.run("import", workspace.folder + "/in.csv")
    let message = "in.csv:1: the header line is not valid Windows-1252; "
    #expect(outcome.status == 65 && outcome.errors.contains(message), "\(outcome)")
    #expect(outcome.errors.contains("--encoding CP932"), "\(outcome)")
    #expect(workspace.bytes() == nil)
  }
}
