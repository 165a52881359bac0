import TestSupport

extension Workspace.Outcome {
  /// The JSON lines of a stream, in short form.
  var summaries: [String] {
    get throws { try lines.map { try Line.decode($0).summary } }
  }
}
