import CLibFuzzer
import Fuzzing
import UserStore

/// Valid database files and -wal files that were damaged or tampered with.
@main struct ImageTarget: FuzzTarget {
  static var seeds: [[UInt8]] {
    get throws { try SeedStores.images().map(\.bytes) }
  }

  static func test(_ input: [UInt8]) {
    if input.count > 5 { Work(Image(input)).run() }
  }
}

/// Changes an image but keeps the structure of the files, because libFuzzer's own changes rarely pass SQLite's checks.
@c(LLVMFuzzerCustomMutator)
public func mutate(_ bytes: UnsafeMutablePointer<UInt8>, _ count: Int, _ limit: Int, _ seed: UInt32) -> Int {
  var generator = Generator(seed: seed)
  var image = Image(UnsafeBufferPointer(start: bytes, count: count))
  for _ in 0...Int(generator.next() % 3) { Mutation.random(&generator).apply(to: &image, &generator) }
  let changed = image.bytes
  guard changed.count <= limit else { return count }
  for (index, byte) in changed.enumerated() { bytes[index] = byte }
  return changed.count
}

/// A xorshift generator with libFuzzer's seed.
struct Generator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt32) {
    state = UInt64(seed) &* 0x9E37_79B9_7F4A_7C15 | 1
  }

  mutating func next() -> UInt64 {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return state &* 0x2545_F491_4F6C_DD1D
  }
}
