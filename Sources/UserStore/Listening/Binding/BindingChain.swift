/// Properties that follow each other, in one direction or both.
///
///     let code = BindingChain("win code")
///       .bind(lottery, \.winCode)
///       .bind(label, \.text, .out)
///       .bind(field, \.text, filter: { $0.count <= 3 })
///       .on("log") { (code: String) in print(code) }
///     field.text = "777"
///     code.update()  // the lottery and the label have it
///
/// A member is a property of an object, an element of an array in one, a `Listenable` with its `SignalSource`, or an attribute of a
/// user in a `UserStore`. Members come in any order; the first that sends is the head.
///
/// - **Noticing**: changes of `@Observable` objects are noticed on the next turn of the main actor (values in between are
///   skipped), those of listenables and stores when they are told, those of a member with `events` when these come. Other
///   members are looked at by `update()`, and before the chain writes them: an edit that nobody has noticed is spread first.
/// - **A round**: what the source sends is converted by every member and put before all filters. Then attributes in
///   stores are written, all of a store in one write with the chain's name as its origin. If a filter, a converter or
///   a store refused, nobody is changed, the source gets its previous value back, and the error handler is told.
///   Otherwise the other members are written, each at most once and the source never, then custom blocks are called.
/// - **Changes in a round**: what a custom block or a setter changes is a round after the present one. A setter that corrects
///   what it is given is the source of the next round. After 1,000 rounds that answer each other the chain stops, and
///   the error handler is told who they are.
/// - **Equal values** start no round and are not written. Equal is what `==` says; text is compared by its UTF-8 bytes. What
///   is not `Equatable` has changed whenever its source says so.
/// - **One chain**: a member that belongs to another chain already makes one chain of both, in whatever order they were
///   built; all handles then stand for it. Custom blocks of the chain that joins replace those with the same key. Each member
///   keeps the name and the error handler of the chain that it was bound with. A member is known by its object and its key
///   path as they were written: a property of a subclass and of its superclass are two.
/// - **Lifetime**: objects are held weakly. One that is released leaves the chain. A chain lives, with or without its handle,
///   as long as a member that sends; what its blocks and converters hold is let go with it.
///
/// All of it happens on the main actor, where the properties of screens live.
@MainActor public final class BindingChain {
  /// Which way values go, seen from the member.
  public struct Direction: OptionSet, Sendable {
    /// The value that stands for it.
    public let rawValue: Int

    /// Makes one of its raw value.
    public init(rawValue: Int) {
      self.rawValue = rawValue
    }

    /// Into the chain: the member sends only.
    public static let `in` = Direction(rawValue: 1)
    /// Out of the chain: the member receives only.
    public static let out = Direction(rawValue: 2)
    /// Both.
    public static let `inout`: Direction = [.in, .out]
  }

  /// Whose value counts when a member is bound.
  public enum Initial: Sendable {
    /// The head's: the new member, and all that come with it, get its value.
    case head
    /// Nobody's: values stay as they are until one changes.
    case none
    /// The new member's: it is spread as if it had just changed.
    case tail
  }

  let context: ChainContext
  private var latestCore = ChainCore()

  /// Makes a chain without members.
  ///
  /// - Parameters:
  ///   - name: What it is called in errors, and the origin of what it writes to stores.
  ///   - onError: Gets what goes wrong. It may use the chain. A line on standard error unless said otherwise.
  public init(_ name: String = "unnamed", onError: (@MainActor (BindingError) -> Void)? = nil) {
    context = ChainContext(name, onError: onError)
  }

  deinit {
    // A screen goes with its chain, its labels and its fields: on the next turn all of them are gone.
    Task { @MainActor [latestCore] in latestCore.current.removeDead() }
  }

  var core: ChainCore {
    latestCore = latestCore.current
    return latestCore
  }

  /// Adds a member; where that cannot be, the error handler is told and the chain stays as it is.
  func add(_ member: any ChainMember, _ initial: Initial) -> BindingChain {
    do { try core.add(member, initial) } catch {
      context.report(
        .failed((error as? MemberUnavailable)?.cause ?? error), at: member.name, object: member.key.object)
    }
    return self
  }

  // MARK: Blocks

  /// Calls `action` after the members in each round, from the next one on.
  ///
  /// - Parameters:
  ///   - key: Whoever uses it again replaces the block, and takes its place in the order.
  ///   - action: Gets what the source sent, converted automatically to the type that it wants. It may change members and the
  ///     chain. What it throws goes to the error handler, and stops nobody.
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
    core.hub.register(key, to: .all, on: .inline, owner: nil) { round in MainActor.assumeIsolated { call(round) } }
    return self
  }

  // MARK: Noticing

  /// Looks at every member that sends, and spreads what has changed.
  ///
  /// When it returns that is done; inside a round, a listener or a transaction it follows after that. Values that cannot be
  /// compared are passed over: `update(_:)` is for those.
  public func update() {
    core.update()
  }

  /// Looks at the members of one object, and spreads what has changed; values that cannot be compared have.
  ///
  /// - Parameter object: Whose properties were changed.
  public func update(_ object: AnyObject) {
    let core = core
    for member in core.members where member.key.object == ObjectIdentifier(object) {
      core.enqueue(member, .propagateReported)
    }
  }

  // MARK: Leaving

  /// Takes all properties of an object out, now.
  ///
  /// What was joined by it stays joined. Without a member that sends, the chain ends.
  ///
  /// - Parameter object: Whose; one that is not bound is no error.
  public func unbind(_ object: AnyObject) {
    core.remove { $0.key.object == ObjectIdentifier(object) }
  }

  /// Takes a property out, now.
  ///
  /// - Parameters:
  ///   - object: Whose.
  ///   - keyPath: Which one.
  public func unbind<Object: AnyObject, Value>(_ object: Object, _ keyPath: KeyPath<Object, Value>) {
    unbind(MemberKey(object: ObjectIdentifier(object), property: keyPath))
  }

  /// Takes a custom block out, now, also for the round in flight.
  ///
  /// - Parameter key: Its key.
  public func unbind(_ key: String) {
    core.hub.remove(key, from: .all)
  }

  func unbind(_ key: MemberKey) {
    core.remove { $0.key == key }
  }

  // MARK: Asking

  /// Whether any property of an object is a member.
  ///
  /// - Parameter object: Whose.
  /// - Returns: whether it is.
  public func isBound(_ object: AnyObject) -> Bool {
    core.removeDead()
    return core.members.contains { $0.key.object == ObjectIdentifier(object) }
  }

  /// Whether a property is a member.
  ///
  /// - Parameters:
  ///   - object: Whose.
  ///   - keyPath: Which one.
  /// - Returns: whether it is.
  public func isBound<Object: AnyObject, Value>(_ object: Object, _ keyPath: KeyPath<Object, Value>) -> Bool {
    isBound(MemberKey(object: ObjectIdentifier(object), property: keyPath))
  }

  /// Whether there is a custom block with a key.
  ///
  /// - Parameter key: The key.
  /// - Returns: whether there is.
  public func isBound(_ key: String) -> Bool {
    core.hub.names.contains(key)
  }

  func isBound(_ key: MemberKey) -> Bool {
    core.removeDead()
    return core.members.contains { $0.key == key }
  }

  /// The members in order, by their names, for tests and for display.
  public var members: [String] {
    core.removeDead()
    return core.members.map(\.name)
  }
}
