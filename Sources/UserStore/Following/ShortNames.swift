package typealias ChangeFeed = UserStore.ChangeFeed
package typealias Consumer = UserStore.Consumer
package typealias ConsumerInfo = UserStore.ConsumerInfo
