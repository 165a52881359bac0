import ArgumentParser

/// A size on the command line: `100M`, `512K`, `2G`, or bytes without a unit; a kilobyte is 1,024 bytes.
struct ByteCount: ExpressibleByArgument {
  let bytes: Int

  init?(argument: String) {
    let units: [(name: Character, shift: Int)] = [("K", 10), ("M", 20), ("G", 30), ("T", 40)]
    let unit = units.first { argument.last?.uppercased() == String($0.name) }
    let digits = unit == nil ? argument[...] : argument.dropLast()
    guard let number = Int(digits), number >= 0, !digits.hasPrefix("+") else { return nil }
    let (bytes, isTooLarge) = number.multipliedReportingOverflow(by: 1 << (unit?.shift ?? 0))
    if isTooLarge { return nil }
    self.bytes = bytes
  }
}
