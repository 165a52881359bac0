public import UserStore

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension UserStore.Change {
  /// When the change was written, by the writer's clock.
  public var date: Date { Date(timeIntervalSince1970: Double(timestamp) / 1_000) }
}

extension UserStore.ConsumerInfo {
  /// When the consumer last acknowledged or its name was last claimed, by the writer's clock.
  public var date: Date { Date(timeIntervalSince1970: Double(timestamp) / 1_000) }
}
