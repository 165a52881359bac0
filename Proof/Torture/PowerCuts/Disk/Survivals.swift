import TortureSupport

/// Chooses images for a cut: all possible ones if they are few, otherwise a sample of every kind.
struct Survivals {
  private let disk: Disk
  private let limit: Int
  private let exhaustively: Int
  private var random: SplitMix64
  private(set) var all: [Survival] = []

  /// Chooses for the disk at the moment of the cut: all subsets of up to `exhaustively` pending changes, or about `limit`.
  init(of disk: Disk, limit: Int, exhaustively: Int, _ random: inout SplitMix64) {
    self.disk = disk
    self.limit = limit
    self.exhaustively = exhaustively
    self.random = random
    choose()
    random = self.random
  }

  private var pieces: Int { disk.pending.count }
  private var names: Int { disk.pendingNames.count }
  private var hasNothing: Bool { pieces + names == 0 }

  private mutating func choose() {
    // Nothing survives, and everything survives.
    add(prefix(0), prefixOfNames(0))
    if hasNothing { return }
    add(prefix(pieces), prefixOfNames(names))
    if pieces + names <= exhaustively { addSubsets() } else { sampleSubsets() }
    if pieces > 0 { addTorn() }
  }

  private mutating func addSubsets() {
    for bits in 1..<max(2, 1 << (pieces + names)) - 1 {
      add(whole((0..<pieces).map { bits >> $0 & 1 == 1 }), (pieces..<pieces + names).map { bits >> $0 & 1 == 1 })
    }
  }

  /// Adds prefixes, as a disk leaves that keeps the order, and random subsets.
  private mutating func sampleSubsets() {
    for _ in 0..<max(1, limit / 4) {
      add(
        prefix(Int.random(in: 0...pieces, using: &random)), prefixOfNames(Int.random(in: 0...names, using: &random)))
    }
    for _ in 0..<max(1, limit / 4) { add(whole(subset()), subsetOfNames()) }
  }

  private mutating func addTorn() {
    for index in 0..<max(2, limit / 2) {
      let end = Int.random(in: 0..<pieces, using: &random)
      var fates = prefix(end)
      switch index % 4 {
      case 0: fates[end] = torn(end)
      case 1:
        fates = prefix(pieces)
        fates[end] = damaged(end)
      case 2: fates = subset().map { $0 ? .kept : .grown }
      default: fates = scattered()
      }
      add(fates, subsetOfNames())
    }
  }

  // MARK: One piece

  /// A write up to a random sector.
  private mutating func torn(_ index: Int) -> Survival.Fate {
    let count = sectors(of: index)
    let end = Int.random(in: 0...count, using: &random)
    return .torn((0..<count).map { $0 < end ? .kept : .lost })
  }

  /// A write except for one sector, which is old, zeros, or garbage.
  private mutating func damaged(_ index: Int) -> Survival.Fate {
    let count = sectors(of: index)
    let hole = count == 0 ? 0 : Int.random(in: 0..<count, using: &random)
    let what = random.choose(Survival.Sector.lost, .zeros, .garbage)
    return .torn((0..<count).map { $0 == hole ? what : .kept })
  }

  /// A random fate for every sector of every write.
  private mutating func scattered() -> [Survival.Fate] {
    let likely = Double.random(in: 0...1, using: &random)
    return (0..<pieces).map { index in
      .torn(
        (0..<sectors(of: index)).map { _ in
          if Double.random(in: 0...1, using: &random) < likely { return .kept }
          return random.choose(Survival.Sector.lost, .lost, .zeros, .garbage)
        })
    }
  }

  private func sectors(of index: Int) -> Int {
    guard case .write(let offset, let bytes) = disk.pending[index].change else { return 0 }
    return Bytes.sectors(of: bytes.count, at: offset).count
  }

  // MARK: Several

  private func prefix(_ count: Int) -> [Survival.Fate] { whole((0..<pieces).map { $0 < count }) }

  private func prefixOfNames(_ count: Int) -> [Bool] { (0..<names).map { $0 < count } }

  private func whole(_ kept: [Bool]) -> [Survival.Fate] { kept.map { $0 ? .kept : .lost } }

  private mutating func subset() -> [Bool] {
    let likely = Double.random(in: 0...1, using: &random)
    return (0..<pieces).map { _ in Double.random(in: 0...1, using: &random) < likely }
  }

  private mutating func subsetOfNames() -> [Bool] {
    switch random.choose(0, 1, 2) {
    case 0: prefixOfNames(names)
    case 1: prefixOfNames(Int.random(in: 0...names, using: &random))
    default: (0..<names).map { _ in Bool.random(using: &random) }
    }
  }

  private mutating func add(_ pieces: [Survival.Fate], _ names: [Bool]) {
    all.append(Survival(pieces: pieces, names: names, seed: random.next()))
  }
}
