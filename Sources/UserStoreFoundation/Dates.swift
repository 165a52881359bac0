public import UserStore

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension UserStore.Change {
  /// The time of the change, by the writer's clock.
  public var date: Date { Date(timeIntervalSince1970: Double(timestamp) / 1_000) }
}

extension UserStore.ConsumerInfo {
  /// The time when the consumer last acknowledged or its name was last claimed, by the writer's clock.
  public var date: Date { Date(timeIntervalSince1970: Double(timestamp) / 1_000) }
}
