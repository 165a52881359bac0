#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The deliberate defects of this process: the words of the variable SABOTAGE, separated by commas.
///
/// sabotage.py inserts the code that asks for them into a copy of the library, which scripts/torture makes.
enum Sabotage {
  private static let words: Set<String> = {
    guard let text = unsafe getenv("SABOTAGE") else { return [] }
    return Set(unsafe String(cString: text).split(separator: ",").map(String.init))
  }()

  static func isOn(_ word: String) -> Bool { words.contains(word) }
}

extension WriteSession {
  /// Delivers the changes of the open transaction before COMMIT.
  ///
  /// It uses another thread, because the hub calls no listeners inside a transaction.
  func deliverEarly(_ session: any Session) {
    guard Sabotage.isOn("commit-hook"), let last = try? session.verify(publication.position),
      let page = try? LogPage(after: publication.position, through: last, session, pages: reader)
    else { return }
    let ticket = publication.append(page.sets, cascade: nil)
    let thread = try? SystemThread.start(named: "sabotage") { [publication] in publication.deliver(through: ticket) }
    thread?.join()
  }
}
