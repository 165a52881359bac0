/// A chain of properties that are kept in sync, in one direction or in both.
///
///     let code = BindingChain("win code")
///       .bind(lottery, \.winCode)
///       .bind(label, \.text, .out)
///       .bind(field, \.text, filter: { $0.count <= 3 })
///       .on("log") { (code: String) in print(code) }
///     field.text = "777"
///     code.update()  // the lottery and the label have the value
///
/// A member is a property of an object, an element of an array in an object, a `Listenable` with its `SignalSource`, or an
/// attribute of a user in a `UserStore`. Members can be added in any order; the first member that sends is the head.
///
/// - **Noticing changes**: The chain notices changes of `@Observable` objects on the next turn of the main actor (values in
///   between are skipped), changes of listenables and stores when they are delivered, and changes of a member with `events`
///   when these are emitted. It reads other members in `update()`, and before it writes them: an edit that it has not noticed
///   yet is propagated first.
/// - **A round** propagates the value of one member, the source. The value is converted for every member and passed to all
///   filters. Then attributes in stores are written, all attributes of one store in one write with the chain's name as its
///   origin. If a filter, a converter or a store refuses, no other member changes, the source gets its previous value back, and
///   the error handler is called. Otherwise the other members are written, each at most once and the source never, and then
///   custom blocks are called.
/// - **Two stores** share no transaction. If the second store refuses, the first write stays committed, and reaches the chain
///   like any other change of the first store.
/// - **Changes in a round**: A change that a custom block or a setter makes is propagated in another round, after the present
///   one. If a setter corrects its value, its member is the source of the next round. After 1,000 rounds that cause each other,
///   the chain stops, and the error handler gets the names of the members and blocks.
/// - **Equal values** start no round and are not written. Values are compared by `==`, text by its UTF-8 bytes, and objects
///   that are not `Equatable` by identity. Any other value counts as changed whenever its source reports a change.
/// - **One chain for each property**: A property is a member of at most one chain in the process. If you bind a property that
///   belongs to another chain, the two chains become one, no matter which was built first: both `BindingChain` objects then
///   refer to it, and every value must pass the filters of both. So a filter on one screen can refuse an edit on another
///   screen; the error goes to the handler of the chain that the refusing member was first bound with. To keep two screens
///   apart, bind each property in one chain only: give each screen its own model object, or its own `UserStore` on the same
///   file. If both chains have a block with the same key, the block of the chain that the property belonged to is kept. A
///   property is identified by its object and its key path as written: a property of a subclass and the same property of its
///   superclass are two members.
/// - **Lifetime**: Objects are held weakly, and a released object leaves the chain. A chain lives as long as a member that
///   sends, even if its `BindingChain` was released. What its blocks and converters hold is released with it.
///
/// All of this happens on the main actor, where the properties of screens live.
@MainActor public final class BindingChain {
  /// The direction of values, as seen from the member.
  public struct Direction: OptionSet, Sendable {
    /// The raw value.
    public let rawValue: Int

    /// Creates a direction from its raw value.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Into the chain: the member only sends.
    public static let `in` = Direction(rawValue: 1)
    /// Out of the chain: the member only receives.
    public static let out = Direction(rawValue: 2)
    /// Both directions.
    public static let `inout`: Direction = [.in, .out]
  }

  /// The member whose value is propagated when a member is bound.
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

  /// Creates a chain without members.
  ///
  /// - Parameters:
  ///   - name: The chain's name in errors, and the origin of its writes to stores.
  ///   - onError: Called with errors on the main actor. It may use the chain. The default prints a line to standard error.
  public init(_ name: String = "unnamed", onError: (@MainActor (BindingError) -> Void)? = nil) {
    context = ChainContext(
      name: name,
      onError: onError ?? { error in
        var stream = StandardError()
        print("userstore: binding chain \(error)", to: &stream)
      })
  }

  deinit {
    // A screen is released with its chain, its labels and its fields: on the next turn all of them are gone.
    Task { @MainActor [latestCore] in latestCore.current.removeDead() }
  }

  var core: ChainCore {
    latestCore = latestCore.current
    return latestCore
  }

  /// Adds a member; if that fails, calls the error handler and leaves the chain as it is.
  func add(_ member: any ChainMember, _ initial: Initial) -> BindingChain {
    do { try core.add(member, initial) } catch {
      let cause = (error as? MemberUnavailable)?.cause ?? error
      context.report(.failed(cause), at: member.name, object: member.key.object)
    }
    return self
  }

  // MARK: Blocks

  /// Calls a closure in each round, starting with the next one, after the members were written.
  ///
  /// - Parameters:
  ///   - key: The block's key. It replaces the block that has this key, and takes its place in the order.
  ///   - action: Called with the value of the source, automatically converted to the closure's type. It may change members and
  ///     the chain. An error that it throws goes to the error handler; the other blocks are still called.
  /// - Returns: This chain.
  @discardableResult
  public func on<Value>(_ key: String, _ action: @escaping @MainActor (Value) throws -> Void) -> BindingChain {
    core.register(key) { [context] round in
      guard let value = round.value else { return }
      do { try action(AutomaticConversion.convert(value, to: Value.self)) } catch {
        context.report(.init(error), at: "block “\(key)”", value: ChainFailure.text(value))
      }
    }
    return self
  }

  // MARK: Updating

  /// Reads every member that sends, and propagates those that have changed.
  ///
  /// Returns when that is done; inside of a round, a listener or a transaction, it returns immediately, and the update follows
  /// after that. Values that cannot be compared are left out; use `update(_:)` for them.
  public func update() { core.update() }

  /// Reads the members of one object, and propagates those that have changed or cannot be compared.
  public func update(_ object: AnyObject) {
    let core = core
    for member in core.members where member.key.object == ObjectIdentifier(object) {
      core.enqueue(member, .propagate(isReported: true))
    }
  }

  // MARK: Removing

  /// Removes all properties of an object from the chain immediately.
  ///
  /// Chains that were joined by them stay joined. If no member that sends is left, the chain ends. An object that is not bound
  /// has no effect.
  public func unbind(_ object: AnyObject) { core.remove { $0.key.object == ObjectIdentifier(object) } }

  /// Removes a property from the chain immediately.
  public func unbind<Object: AnyObject, Value>(_ object: Object, _ keyPath: KeyPath<Object, Value>) {
    unbind(MemberKey(object: ObjectIdentifier(object), property: keyPath))
  }

  /// Removes a custom block immediately, even for the round that is being delivered.
  public func unbind(_ key: String) { core.hub.remove(key, from: .all) }

  func unbind(_ key: MemberKey) { core.remove { $0.key == key } }

  // MARK: Members

  /// Returns whether any property of an object is a member.
  public func isBound(_ object: AnyObject) -> Bool {
    core.removeDead()
    return core.members.contains { $0.key.object == ObjectIdentifier(object) }
  }

  /// Returns whether a property is a member.
  public func isBound<Object: AnyObject, Value>(_ object: Object, _ keyPath: KeyPath<Object, Value>) -> Bool {
    isBound(MemberKey(object: ObjectIdentifier(object), property: keyPath))
  }

  /// Returns whether there is a custom block with a key.
  public func isBound(_ key: String) -> Bool { core.hub.names.contains(key) }

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
