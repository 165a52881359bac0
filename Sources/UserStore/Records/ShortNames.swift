// The types of a store are members of `UserStore`, so that they do not collide with those of other modules (`Color`,
// `Cursor`, `Transaction`). Inside this package they have short names.

package typealias Change = UserStore.Change
package typealias ChangeSet = UserStore.ChangeSet
package typealias Color = UserStore.Color
package typealias Compaction = UserStore.Compaction
package typealias Configuration = UserStore.Configuration
package typealias Cursor = UserStore.Cursor
package typealias Finding = UserStore.Finding
package typealias Purge = UserStore.Purge
package typealias RetentionPolicy = UserStore.RetentionPolicy
package typealias Revision = UserStore.Revision
package typealias Topic = UserStore.Topic
package typealias User = UserStore.User
