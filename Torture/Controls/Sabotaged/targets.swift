
// The rest of the manifest of the copy that is broken on purpose; what comes before is the beginning of the real one.
let package = Package(
  name: "Sabotaged",
  platforms: [.macOS(.v15)],
  targets: [
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),
    .target(name: "CSystem"),
    .target(
      name: "UserStore", dependencies: ["CSQLite", "CSystem"], exclude: ["UserStore.docc"],
      resources: [.embedInCode("Schema/migrations")], swiftSettings: settings),
    .executableTarget(
      name: "embedder", dependencies: ["UserStore"], path: "Torture/Embedder", swiftSettings: settings),
  ]
)
