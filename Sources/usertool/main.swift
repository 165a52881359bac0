import UserStore

let store = try UserStore(path: CommandLine.arguments[1])
let zoe = try store.write { try $0.add(name: "Zoë", hairColor: Color("auburn")) }
print("added", zoe)
let name = try store.listenable(.name, of: zoe)
name.bindAndFire("A") { print("A", $0 ?? "gone") }
name.bind("B") { print("B", $0 ?? "gone"); if $0 == "Zoe" { try store.write { try $0.rename(zoe, to: "Final") } } }
name.bind("C") { print("C", $0 ?? "gone", name.value ?? "") }
try store.write { try $0.rename(zoe, to: "Zoe") }
store.listeners.bind("all", to: .everything) { set in print("all", set.revision, set.isForeign, try set.changes.map { "\($0.attribute) \($0.old) \($0.new)" }) }
print(store.listeners.names)
let clock = ContinuousClock()
let t = clock.now
for i in 0..<3 { try store.write { try $0.set(Attribute<Int>("age"), of: zoe, to: i) } }
print((clock.now - t) / 2000)
print(CommandLine.arguments.count)
if CommandLine.arguments.count > 2 { for try await set in store.changes(after: try store.read { try $0.cursor }) { print("feed", set.cursor, set.isForeign, try set.changes.count) } }
store.close()
