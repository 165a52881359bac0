/// The members of all chains: by it two chains that are given the same member become one.
///
/// It is what keeps a chain alive without a handle, as long as a member lives that sends. Nothing tells of the death of an
/// object: chains that lost their last sender are found when one of their handles goes, when anything happens in them,
/// and when the members of all chains have doubled.
@MainActor enum ChainDirectory {
  private static var members: [MemberKey: any ChainMember] = [:]
  private static var sweepAt = 64

  static func member(_ key: MemberKey) -> (any ChainMember)? {
    guard let member = members[key] else { return nil }
    if member.isAlive { return member }
    // Another object lay at the same address.
    member.core?.removeDead()
    return nil
  }

  static func insert(_ member: any ChainMember) {
    members[member.key] = member
    if members.count < sweepAt { return }
    for core in members.values.compactMap(\.core) { core.removeDead() }
    sweepAt = max(64, 2 * members.count)
  }

  static func remove(_ member: any ChainMember) {
    if members[member.key] === member { members[member.key] = nil }
  }
}
