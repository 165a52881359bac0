import Foundation
import SwiftOperators
import SwiftParser
import SwiftSyntax

// mutate find ROOT FILE…   prints the mutations of files as JSON, one a line
// mutate write ROOT        reads mutations with numbers, one a line, and writes them into the files below ROOT
let arguments = CommandLine.arguments.dropFirst()
guard let command = arguments.first, let root = arguments.dropFirst().first, ["find", "write"].contains(command) else {
  FileHandle.standardError.write(Data("usage: mutate find ROOT FILE… | mutate write ROOT\n".utf8))
  exit(64)
}

func contents(_ file: String) throws -> Data { try Data(contentsOf: URL(filePath: root).appending(path: file)) }

if command == "find" {
  let encoder = JSONEncoder()
  encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
  for file in arguments.dropFirst(2) {
    let parsed = Parser.parse(source: String(decoding: try contents(file), as: UTF8.self))
    guard let tree = OperatorTable.standardOperators.foldAll(parsed, errorHandler: { _ in }).as(SourceFileSyntax.self)
    else { continue }
    let finder = Finder(file: file, tree: tree)
    finder.walk(tree)
    for mutation in finder.mutations { print(String(decoding: try encoder.encode(mutation), as: UTF8.self)) }
  }
} else {
  var mutations: [String: [Mutation]] = [:]
  while let line = readLine() {
    let mutation = try JSONDecoder().decode(Mutation.self, from: Data(line.utf8))
    mutations[mutation.file, default: []].append(mutation)
  }
  for (file, mutations) in mutations {
    let text = Writer(source: Array(try contents(file)), mutations: mutations).text
    try Data(text.utf8).write(to: URL(filePath: root).appending(path: file))
  }
}
