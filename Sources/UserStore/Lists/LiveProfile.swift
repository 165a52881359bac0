/// A type of profile of a user, which identifies what follows it.
struct LiveProfile: Hashable {
  private let id: User.ID
  private let type: ObjectIdentifier
  /// The profile before it is read.
  let content: any LiveContent

  init<Profile: UserStore.Profile>(_ id: User.ID, _ type: Profile.Type) {
    self.id = id
    self.type = ObjectIdentifier(type)
    content = ProfileContent<Profile>(id)
  }

  static func == (left: LiveProfile, right: LiveProfile) -> Bool { left.id == right.id && left.type == right.type }

  func hash(into hasher: inout Hasher) {
    hasher.combine(id)
    hasher.combine(type)
  }
}

/// The profile of a user, made from the stored values, which it keeps: a change set has only those that it changes.
struct ProfileContent<Profile: UserStore.Profile>: LiveContent {
  private let id: User.ID
  /// nil if there is no such user.
  private var user: User?
  /// The last profile that decoded; nil if there is no such user.
  private var profile: Profile?
  /// What the last decoding has asked for.
  private var keys = ProfileDecoder.Keys()
  private(set) var failure: StoreError?

  init(_ id: User.ID) {
    self.id = id
  }

  var value: ErasedValue { ValueBox(profile) }
  var mentions: Mentions { Mentions(id) }

  mutating func load(
    _ state: PastState, at cursor: Cursor, discontinuity: StoreError.Code?
  ) throws(StoreError) -> Bool {
    replace(by: try state.session.user(id))
  }

  mutating func apply(
    _ deltas: [UserDelta], at cursor: Cursor, _ read: PastReader
  ) throws(StoreError) -> Bool? {
    // One, because the changes of a user are folded.
    guard let delta = deltas.first else { return false }
    if delta.isPurged { return nil }
    guard delta.exists else { return replace(by: nil) }
    var new = delta.existed ? user ?? User(id: id) : User(id: id)
    for change in delta.changes { new[stored: change.attribute] = change.new.isNull ? nil : change.new }
    return replace(by: new)
  }

  /// Replaces the stored values, and returns whether any of those that the profile asks for has changed.
  private mutating func replace(by new: User?) -> Bool {
    let old = exchange(&user, with: new)
    guard let new else {
      (profile, failure) = (nil, nil)
      return old != nil
    }
    if let old, !keys.differ(old, new) { return false }
    let (result, keys) = ProfileDecoder.decoding(Profile.self, from: new)
    self.keys = keys
    switch result {
    case .success(let profile): (self.profile, failure) = (profile, nil)
    case .failure(let error): failure = error
    }
    return true
  }
}

extension ProfileDecoder.Keys {
  fileprivate func differ(_ old: User, _ new: User) -> Bool {
    if isAll, old.storedValues != new.storedValues { return true }
    return names.contains { old[stored: $0] != new[stored: $0] }
  }
}
