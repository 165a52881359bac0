/// A chain of properties that follow each other, in one direction or in both.
///
///     let code = BindingChain("win code")
///       .bind(lottery, \.winCode)
///       .bind(label, \.text, .out)
///       .bind(field, \.text, filter: { $0.count <= 3 })
///       .on("log") { (code: String) in print(code) }
///     field.text = "777"
///     code.update()  // the lottery and the label have it
///
/// A member is a property of an object, an element of an array in an object, a `Listenable` with its `SignalSource`, or an
/// attribute of a user in a `UserStore`. Members can be added in any order; the first member that sends is the head.
///
/// - **Noticing changes**: changes of `@Observable` objects are noticed on the next turn of the main actor (values in between
///   are skipped), changes of listenables and stores when they are delivered, changes of a member with `events` when these
///   come. The chain reads other members in `update()`, and before it writes them: an edit that was not noticed yet is
///   propagated first.
/// - **A round**: the value of the source is converted for every member and passed to all filters. Then attributes in stores
///   are written, all attributes of one store in one write with the chain's name as its origin. If a filter, a converter or
///   a store refuses, no other member changes, the source gets its previous value back, and the error handler is called.
///   Otherwise the other members are written, each at most once and the source never, and then custom blocks are called.
/// - **Two stores** share no transaction. If the second store refuses, the first write stays committed.
/// - **Changes in a round**: a change that a custom block or a setter makes is a round after the present one. A setter that
///   corrects its value makes its member the source of the next round. After 1,000 rounds that cause each other the chain
///   stops, and the error handler gets the names of the members and blocks.
/// - **Equal values** start no round and are not written. Values are compared by `==`, text by its UTF-8 bytes. A value that
///   is not `Equatable` has changed whenever its source reports a change.
/// - **One chain**: adding a member that belongs to another chain joins the two chains, in whatever order they were built;
///   then all handles stand for the joined chain. This holds for all chains of the process. Custom blocks of the chain that
///   joins replace those with the same key. Each member keeps the name and the error handler of the chain that it was bound
///   with. A member is identified by its object and its key path as it was written: a property of a subclass and the same
///   property of its superclass are two members.
/// - **Lifetime**: objects are held weakly, and a released object leaves the chain. A chain lives, with or without its handle,
///   as long as a member that sends. What its blocks and converters hold is released with it.
///
/// All of this happens on the main actor, where the properties of screens live.
@MainActor public final class BindingChain {
  /// The direction of values, as seen from the member.
  public struct Direction: OptionSet, Sendable {
    /// The raw value.
    public let rawValue: Int

    /// Makes a direction from its raw value.
    public init(rawValue: Int) {
      self.rawValue = rawValue
    }

    /// Into the chain: the member only sends.
    public static let `in` = Direction(rawValue: 1)
    /// Out of the chain: the member only receives.
    public static let out = Direction(rawValue: 2)
    /// Both directions.
    public static let `inout`: Direction = [.in, .out]
  }

  /// The member whose value counts when a member is bound.
  public enum Initial: Sendable {
    /// The head: the new member, and all members that join with it, receive the head's value.
    case head
    /// None: all values stay as they are until one changes.
    case none
    /// The new member: its value is propagated as if it had just changed.
    case tail
  }

  let context: ChainContext
  private var latestCore = ChainCore()

  /// Makes a chain without members.
  ///
  /// - Parameters:
  ///   - name: The chain's name in errors, and the origin of its writes to stores.
  ///   - onError: Called with errors on the main actor. It may use the chain. The default prints a line to standard error.
  public init(_ name: String = "unnamed", onError: (@MainActor (BindingError) -> Void)? = nil) {
    context = ChainContext(name, onError: onError)
  }

  deinit {
    // A screen is released with its chain, its labels and its fields: on the next turn all of them are gone.
    Task { @MainActor [latestCore] in latestCore.current.removeDead() }
  }

  var core: ChainCore {
    latestCore = latestCore.current
    return latestCore
  }

  /// Adds a member.
  ///
  /// If it cannot be added, the error handler is called, and the chain stays as it is.
  func add(_ member: any ChainMember, _ initial: Initial) -> BindingChain {
    do { try core.add(member, initial) } catch {
      context.report(
        .failed((error as? MemberUnavailable)?.cause ?? error), at: member.name, object: member.key.object)
    }
    return self
  }

  // MARK: Blocks

  /// Calls a closure after the members in each round, from the next round on.
  ///
  /// - Parameters:
  ///   - key: The block's key. It replaces the block that has this key, and takes its place in the order.
  ///   - action: Called with the value of the source, automatically converted to the closure's type. It may change members and
  ///     the chain. An error that it throws goes to the error handler; the other blocks are called.
  /// - Returns: the chain.
  @discardableResult
  public func on<Value>(_ key: String, _ action: @escaping @MainActor (Value) throws -> Void) -> BindingChain {
    let call: @MainActor @Sendable (ChainRound) -> Void = { [context] round in
      guard let value = round.value else { return }
      do { try action(AutomaticConversion.convert(value, to: Value.self)) } catch {
        let impossible = error as? AutomaticConversion.Impossible
        context.report(
          impossible.map { .unconvertible(to: $0.type) } ?? .failed(error), at: "block “\(key)”",
          value: ChainFailure.text(value))
      }
    }
    core.hub.register(
      key, to: .all, on: .inline, owner: nil, .init { round in MainActor.assumeIsolated { call(round) } })
    return self
  }

  // MARK: Noticing

  /// Reads every member that sends, and propagates those that have changed.
  ///
  /// Returns when that is done. Inside of a round, a listener or a transaction it is done after that. Values that cannot be
  /// compared are left out; use `update(_:)` for them.
  public func update() {
    core.update()
  }

  /// Reads the members of one object, and propagates those that have changed.
  ///
  /// Values that cannot be compared count as changed.
  ///
  /// - Parameter object: The object whose properties were changed.
  public func update(_ object: AnyObject) {
    let core = core
    for member in core.members where member.key.object == ObjectIdentifier(object) {
      core.enqueue(member, .propagateReported)
    }
  }

  // MARK: Leaving

  /// Removes all properties of an object from the chain immediately.
  ///
  /// Chains that were joined by them stay joined. Without a member that sends, the chain ends.
  ///
  /// - Parameter object: The object; one that is not bound has no effect.
  public func unbind(_ object: AnyObject) {
    core.remove { $0.key.object == ObjectIdentifier(object) }
  }

  /// Removes a property from the chain immediately.
  ///
  /// - Parameters:
  ///   - object: The object.
  ///   - keyPath: The property.
  public func unbind<Object: AnyObject, Value>(_ object: Object, _ keyPath: KeyPath<Object, Value>) {
    unbind(MemberKey(object: ObjectIdentifier(object), property: keyPath))
  }

  /// Removes a custom block immediately, also for the round that is being delivered.
  ///
  /// - Parameter key: The block's key.
  public func unbind(_ key: String) {
    core.hub.remove(key, from: .all)
  }

  func unbind(_ key: MemberKey) {
    core.remove { $0.key == key }
  }

  // MARK: Asking

  /// Returns whether any property of an object is a member.
  ///
  /// - Parameter object: The object.
  /// - Returns: whether it is bound.
  public func isBound(_ object: AnyObject) -> Bool {
    core.removeDead()
    return core.members.contains { $0.key.object == ObjectIdentifier(object) }
  }

  /// Returns whether a property is a member.
  ///
  /// - Parameters:
  ///   - object: The object.
  ///   - keyPath: The property.
  /// - Returns: whether it is bound.
  public func isBound<Object: AnyObject, Value>(_ object: Object, _ keyPath: KeyPath<Object, Value>) -> Bool {
    isBound(MemberKey(object: ObjectIdentifier(object), property: keyPath))
  }

  /// Returns whether there is a custom block with a key.
  ///
  /// - Parameter key: The block's key.
  /// - Returns: whether there is one.
  public func isBound(_ key: String) -> Bool {
    core.hub.names.contains(key)
  }

  func isBound(_ key: MemberKey) -> Bool {
    core.removeDead()
    return core.members.contains { $0.key == key }
  }

  /// The names of the members in order, for tests and for display.
  public var members: [String] {
    core.removeDead()
    return core.members.map(\.name)
  }
}
