import TortureSupport

/// The fate of a disk's pending changes in one cut.
struct Survival {
  enum Fate {
    case lost, kept
    /// The file has the new length, but not the new content.
    case grown
    /// The fate of each sector.
    case torn([Sector])
  }

  enum Sector {
    case lost, kept, zeros, garbage
  }

  var pieces: [Fate]
  var names: [Bool]
  /// The seed of the garbage.
  var seed: UInt64 = 0
}

extension Survival {
  /// Everything survives, as without a cut.
  static func everything(of disk: Disk) -> Survival {
    Survival(pieces: disk.pending.map { _ in .kept }, names: disk.pendingNames.map { _ in true })
  }
}

extension Disk {
  /// The files after a cut.
  func image(_ survival: Survival) -> DiskImage {
    var names = names
    for (naming, isKept) in zip(pendingNames, survival.names) where isKept { names.apply(naming) }
    var contents = contents
    var random = SplitMix64(seed: survival.seed)
    for (piece, fate) in zip(pending, survival.pieces) { contents[piece.file].apply(fate, piece.change, &random) }
    return DiskImage(
      files: names.map { path, file in (String(path[path.index(after: path.lastIndex(of: "/")!)...]), contents[file]) })
  }
}

extension Bytes {
  fileprivate mutating func apply(_ fate: Survival.Fate, _ change: Disk.Change, _ random: inout SplitMix64) {
    switch (fate, change) {
    case (.lost, _): break
    case (.kept, _), (.torn, .resize), (.grown, .resize): apply(change)
    case (.grown, .write(let offset, let bytes)): if count < offset + bytes.count { resize(to: offset + bytes.count) }
    case (.torn(let sectors), .write(let offset, let bytes)):
      for (range, sector) in zip(Self.sectors(of: bytes.count, at: offset), sectors) {
        switch sector {
        case .lost: break
        case .kept: write(bytes[range], at: offset + range.lowerBound)
        case .zeros: write(Array(repeating: 0, count: range.count)[...], at: offset + range.lowerBound)
        case .garbage:
          write(range.map { _ in UInt8.random(in: .min ... .max, using: &random) }[...], at: offset + range.lowerBound)
        }
      }
    }
  }

  /// The parts of a write that lie in different sectors of the disk.
  static func sectors(of count: Int, at offset: Int) -> [Range<Int>] {
    var ranges: [Range<Int>] = []
    var start = 0
    while start < count {
      let end = min(count, start + sector - (offset + start) % sector)
      ranges.append(start..<end)
      start = end
    }
    return ranges
  }
}

extension Survival: CustomStringConvertible {
  /// A letter for each pending change (`k` kept, `-` lost, `g` grown, `[k-0?]` torn), and a digit for each name.
  var description: String {
    pieces.map(\.description).joined() + "/" + names.map { $0 ? "1" : "0" }.joined() + " garbage \(seed)"
  }
}

extension Survival.Fate: CustomStringConvertible {
  var description: String {
    switch self {
    case .lost: "-"
    case .kept: "k"
    case .grown: "g"
    case .torn(let sectors): "[" + sectors.map { $0.letter }.joined() + "]"
    }
  }
}

extension Survival.Sector {
  fileprivate var letter: String {
    switch self {
    case .lost: "-"
    case .kept: "k"
    case .zeros: "0"
    case .garbage: "?"
    }
  }
}
