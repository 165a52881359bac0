// swift-tools-version: 6.3
import PackageDescription

/// The library's settings, without strict memory safety, because this calls libFuzzer.
let settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .treatAllWarnings(as: .error),
]

/// An executable for a kind of input.
func target(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .executableTarget(name: name, dependencies: ["Fuzzing", "UserStore"] + dependencies, swiftSettings: settings)
}

// A package of its own, because it builds only with the flags of scripts/fuzz. It compiles the sources of the library and the
// tool (Project is a link to them), because a package cannot depend on an executable's code.
let package = Package(
  name: "Fuzz",
  platforms: [.macOS(.v15)],
  dependencies: [.package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0")],
  targets: [
    .systemLibrary(name: "CUserStoreSQLite", path: "Project/CSQLite", pkgConfig: "sqlite3"),
    .target(name: "CUserStoreSystem", path: "Project/CSystem"),
    .target(
      name: "UserStore", dependencies: ["CUserStoreSQLite", "CUserStoreSystem"], path: "Project/UserStore",
      exclude: ["UserStore.docc"], resources: [.embedInCode("SQLite/Schema/migrations")], swiftSettings: settings),
    .target(
      name: "UserStoreFoundation", dependencies: ["UserStore"], path: "Project/UserStoreFoundation",
      swiftSettings: settings),
    .target(
      name: "UserStoreText", dependencies: ["UserStore"], path: "Project/UserStoreText", swiftSettings: settings),
    .target(
      name: "UserToolCommands",
      dependencies: ["UserStore", "UserStoreText", .product(name: "ArgumentParser", package: "swift-argument-parser")],
      path: "Project/UserToolCommands", swiftSettings: settings),
    // The functions of libFuzzer that are called.
    .target(name: "CLibFuzzer"),
    .target(name: "Fuzzing", dependencies: ["CLibFuzzer"], swiftSettings: settings),
    target("cursor", []),
    target("values", ["UserStoreFoundation", "UserStoreText", "UserToolCommands"]),
    target("terminal", ["UserStoreText", "UserToolCommands"]),
    target("commandline", ["UserToolCommands"]),
    target("image", ["CUserStoreSQLite", "CLibFuzzer"]),
  ]
)
