import TestSupport

extension Workspace.Outcome {
  /// What a stream of JSON lines says, in short.
  var summaries: [String] {
    get throws { try lines.map { try Line.decode($0).summary } }
  }
}
