/// The members of all chains of the process, so that two chains with the same member become one.
///
/// It keeps a chain without a handle alive as long as a member that sends lives. The release of an object is not reported: a
/// chain that lost its last member that sends is removed when one of its handles is released, when anything happens in it, and
/// when the number of all members has doubled.
@MainActor enum ChainDirectory {
  private static var members: [MemberKey: any ChainMember] = [:]
  private static var sweepThreshold = 64

  static func member(_ key: MemberKey) -> (any ChainMember)? {
    guard let member = members[key] else { return nil }
    if member.isAlive { return member }
    // The key is of a released object that had the same address.
    member.core?.removeDead()
    return nil
  }

  static func insert(_ member: any ChainMember) {
    members[member.key] = member
    if members.count < sweepThreshold { return }
    for core in members.values.compactMap(\.core) { core.removeDead() }
    sweepThreshold = max(64, 2 * members.count)
  }

  static func remove(_ member: any ChainMember) {
    if members[member.key] === member { members[member.key] = nil }
  }
}
