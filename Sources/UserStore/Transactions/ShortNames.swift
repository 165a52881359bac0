package typealias ReadTransaction = UserStore.ReadTransaction
package typealias Reading = UserStore.Reading
package typealias Transaction = UserStore.Transaction
package typealias WriteTransaction = UserStore.WriteTransaction
package typealias Writing = UserStore.Writing
