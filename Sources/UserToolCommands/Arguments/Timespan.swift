import ArgumentParser

/// A duration on the command line: `30s`, `500ms`, `2m`, `1h`, `30d`, or seconds without a unit.
struct Timespan: ExpressibleByArgument {
  let text: String
  let milliseconds: Int64
  let hasUnit: Bool

  init?(argument: String) {
    let units: [(name: String, milliseconds: Double)] = [
      ("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000),
      ("d", 86_400_000),
    ]
    let unit = units.first { argument.hasSuffix($0.name) }
    let digits = unit.map { argument.dropLast($0.name.count) } ?? argument[...]
    guard let number = Double(digits), number.isFinite, number >= 0 else { return nil }
    let milliseconds = number * (unit?.milliseconds ?? 1_000)
    guard milliseconds < 1e15 else { return nil }
    hasUnit = unit != nil
    text = unit == nil ? argument + "s" : argument
    self.milliseconds = Int64(milliseconds)
  }

  /// Throws if the unit is missing: the default of other options is seconds, but here days may be meant.
  func checkUnit(of option: String) throws(ValidationError) {
    if hasUnit { return }
    let number = text.dropLast()
    throw ValidationError("\(option) \(number) needs a unit: \(number)s, \(number)m, \(number)h or \(number)d")
  }

  var duration: Duration { .milliseconds(milliseconds) }

  var defaultValueDescription: String { text }
}
