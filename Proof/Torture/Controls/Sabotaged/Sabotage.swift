#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// What is broken on purpose in this process: the words of SABOTAGE, with commas between them.
///
/// The patches beside this file put calls of it into a copy of the library; scripts/torture makes that.
enum Sabotage {
  private static let words: Set<String> = {
    guard let text = unsafe getenv("SABOTAGE") else { return [] }
    return Set(unsafe String(cString: text).split(separator: ",").map(String.init))
  }()

  static func isOn(_ word: String) -> Bool { words.contains(word) }
}

extension WriteConnection {
  /// Delivers, before COMMIT, what the open transaction has written.
  ///
  /// On another thread: the hub refuses to call anybody inside a transaction.
  func deliverEarly(_ session: any Session) {
    guard Sabotage.isOn("commit-hook"), let last = try? session.verify(publication.position),
      let page = try? LogPage(after: publication.position, through: last, session, pages: reader.page)
    else { return }
    let ticket = publication.append(page.sets, cascade: nil)
    let thread = try? SystemThread.start(named: "sabotage") { [publication] in publication.deliver(through: ticket) }
    thread?.join()
  }
}
