/// A numbered step of the schema of an engine, as SQL that is compiled in.
package struct Migration: Sendable {
  package let number: Int64
  package let name: String
  package let sql: String
  /// Reveals a migration that was edited after it was applied: 64-bit FNV-1a of the file, against mistakes and not attacks.
  package let fingerprint: String

  package init(_ number: Int64, _ name: String, _ bytes: [UInt8]) {
    self.number = number
    self.name = name
    sql = String(decoding: bytes, as: UTF8.self)
    fingerprint = bytes.fingerprint
  }
}

extension Sequence<UInt8> {
  /// 64-bit FNV-1a in hexadecimal digits: it differs if the bytes do, except by an attack.
  package var fingerprint: String {
    let hash = reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    return String(hash, radix: 16)
  }
}
