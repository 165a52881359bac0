import ArgumentParser

@testable import UserToolCommands

/// Typical command lines.
enum Examples {
  static let lines = [
    "init", "add Noë --hair-color red --set age=7;get Noë;get Noë age",
    "list --format csv;list --where age=41 --sort name",
    "rename Zoë Zoe --expect Zoë;log Zoe --limit 2 --format table", "set 1 hair_color=#102030 x:=007 --unset age;undo",
    "remove twin --yes", "remove 5 --yes;purge 5 --yes --vacuum;log 5", "purge gone --yes", "log --after v1-0-0-0",
    "listeners --listener A=name --format json", "consumers;consumers sync", "backup b.db;restore b.db --yes;check",
    "check --format jsonl", "compact --keep 1s --dry-run", "export e.csv;import e.csv --update --dry-run",
    "export e.jsonl;import e.jsonl --keep-ids --skip-bad;import e.jsonl --batch 1", "completion bash", "man",
    "help add",
    "--version", "list --help", "get 7;get name:7;get 99", "-q --format json get 1", "import - --format jsonl", "lst",
    "add x --set a=1 --set b={\"base64\":\"AP8=\"} -n", "set 1 --listener A=age --format jsonl age=42.5e3",
    "--db x.db list",
  ]

  /// All commands and options of the parser, and special values.
  static var words: [String] {
    let dump = UserTool._dumpHelp()
    let names = dump.split(whereSeparator: { !$0.isLetter && $0 != "-" && $0 != "_" }).map(String.init)
    let texts = [
      "\u{1F}", "\u{1E}", "=", ":=", "name:", "1", "-1", "9223372036854775807", "1e999", "{\"base64\":\"AA==\"}", "--",
    ]
    return texts + Set(names.filter { $0.count < 24 }).sorted()
  }
}
