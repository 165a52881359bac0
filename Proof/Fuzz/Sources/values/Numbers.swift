import Fuzzing
import UserStore

@testable import UserToolCommands

/// Numbers, by their bits.
enum Numbers {
  static func test(_ input: [UInt8]) {
    var parts = Parts(input)
    let integer = parts.integer()
    Forms.check(.integer(integer), of: "k")
    let real = Double(bitPattern: UInt64(bitPattern: integer))
    if !real.isNaN { Forms.check(.real(real), of: "k") }
    expect(Int64(storedValue: integer.storedValue) == integer, "\(integer) does not round-trip")
    if let number = Double(storedValue: .integer(integer)) {
      expect(Int64(exactly: number) == integer, "\(integer) was read as \(number)")
    }
  }
}
