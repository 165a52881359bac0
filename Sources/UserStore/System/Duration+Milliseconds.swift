extension Duration {
  /// In whole milliseconds, at most some 290 million years.
  var milliseconds: Int64 {
    let (seconds, attoseconds) = components
    let milliseconds = seconds.multipliedReportingOverflow(by: 1_000)
    if milliseconds.overflow { return seconds < 0 ? .min : .max }
    return milliseconds.partialValue.addingReportingOverflow(attoseconds / 1_000_000_000_000_000).partialValue
  }
}
