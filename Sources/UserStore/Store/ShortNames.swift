package typealias ListenerInfo = UserStore.ListenerInfo
package typealias Listeners = UserStore.Listeners
