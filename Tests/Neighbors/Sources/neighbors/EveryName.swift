import Foundation
import GRDB
import Hummingbird
import NIOCore
import NIOPosix
import OpenCombine
import OrderedCollections
import SystemPackage
import UserStore
import UserStoreFoundation
import UserStorePostgres
import UserStoreSync
import UserStoreSyncHTTP
import UserStoreText

/// Every public type of the libraries, by the name that you write beside all these modules: each must mean ours.
///
/// `scripts/check-structure` fails when a type is missing here.
enum EveryName {
  static let types: [Any.Type] = [
    DirectTransport.self, Replica.self, Replica.Problem.self, Replica.State.self, Replica.Users.self,
    Replica.Writes.self, Replica.Pending.self, Replica.Refusal.self, Replica.Refusal.Reason.self, Replica.Refusals.self,
    Replica.Status.self,
    SyncAnswer.self, SyncRequest.self, SyncResponse.self, SyncServer.self, SyncServer.Token.self, SyncService.self,
    SyncService.Access.self, SyncService.Access.Action.self,
    SyncService.OwnershipHistory.self, SyncService.ReplicaInfo.self, SyncService.ReplicaInfo.State.self,
    SyncService.Turn.self,
    (any SyncTransport).self,
    Attribute<Int>.self, AttributeName.self, (any AttributeValue).self, Bag<Int>.self, Bag<Int>.Token.self,
    BindingChain.self, BindingChain.Direction.self, BindingChain.Initial.self, BindingConverter<Int>.self,
    BindingError.self, BindingError.Reason.self, DatabaseAddress.self, DeliveryPlace.self,
    (any JSONAttributeValue).self, LatestValues<Int>.self,
    LatestValues<Int>.Iterator.self, Listenable<Int>.self, ListenerToken.self, MainActorPlace.self,
    (any NotificationHandler).self, ObservableList.self, ObservableList.Slice.self, ObservableUser.self,
    Observers<Handler>.self,
    PostgresConfiguration.self, QueryNotation.self, QueryText.self, RecordText.self, Signal<Int>.self,
    Signal<Int>.Event.self,
    SignalSource<Int>.self, StoreError.self, StoreError.Code.self, StoreError.NotUnique.self, StoredValue.self,
    SubscriptionToken.self,
    TextError.self, TextError.Kind.self, TokenBag.self, TooManyRounds.self, UserStore.self, UserStore.Change.self,
    UserStore.Change.Kind.self, UserStore.ChangeFeed.self, UserStore.ChangeFeed.Iterator.self, UserStore.ChangeSet.self,
    UserStore.ChangeSet.Heartbeat.self, UserStore.Color.self, UserStore.Compaction.self, UserStore.Entry.self,
    UserStore.Event.self,
    UserStore.Condition.self, UserStore.Condition.Comparison.self, UserStore.Configuration.self,
    UserStore.Configuration.Access.self, UserStore.Configuration.Durability.self, UserStore.Consumer.self,
    UserStore.Consumer.Iterator.self, UserStore.Consumer.Start.self, UserStore.ConsumerInfo.self,
    UserStore.Cursor.self, UserStore.Finding.self, UserStore.Finding.Kind.self, UserStore.Finding.Severity.self,
    UserStore.ListenerInfo.self, UserStore.Listeners.self, (any UserStore.Profile).self,
    UserStore.ProfileRows<Account>.self, UserStore.ProfileRows<Account>.Row.self, UserStore.Purge.self,
    UserStore.Query.self, UserStore.Query.Position.self, UserStore.Reading.self,
    UserStore.RetentionPolicy.self, UserStore.RetentionPolicy.Limits.self,
    UserStore.Revision.self, UserStore.RowChanges.self, UserStore.RowChanges.Move.self,
    UserStore.RowChanges.Step.self, UserStore.Rows.self, UserStore.SortKey.self, UserStore.Topic.self,
    UserStore.User.self, UserStore.User.ID.self, UserStore.Writing.self,
  ]

  // Not copyable, so that they are not values of `Any.Type`.
  static func transactions(
    _ read: borrowing UserStore.ReadTransaction, _ write: borrowing UserStore.WriteTransaction,
    _ generic: borrowing UserStore.Transaction<UserStore.Reading>
  ) {}

  struct Account: UserStore.Profile {}

  final class Handler: NotificationHandler {
    func handle(_ notification: Int) {}
  }
}
