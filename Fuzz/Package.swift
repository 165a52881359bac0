// swift-tools-version: 6.3
import PackageDescription

/// As the library's, without strict memory safety: libFuzzer is called from here.
let settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .treatAllWarnings(as: .error),
]

let parser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let store = Target.Dependency.product(name: "UserStore", package: "UserStore")

/// One executable for each kind of input.
func target(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .executableTarget(name: name, dependencies: ["Fuzzing"] + dependencies, swiftSettings: settings)
}

// A package of its own: it only builds with the flags that scripts/fuzz gives, for all that it depends on.
let package = Package(
  name: "Fuzz",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "UserStore", path: ".."),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
  ],
  targets: [
    .systemLibrary(name: "CSQLiteImages", pkgConfig: "sqlite3"),
    // The two functions of libFuzzer that are called.
    .target(name: "CLibFuzzer"),
    .target(name: "Fuzzing", dependencies: ["CLibFuzzer"], swiftSettings: settings),
    // A link to the tool's sources, as a library: its main function gets another name.
    .target(
      name: "ToolSources",
      dependencies: [store, parser],
      path: "Sources/usertool",
      swiftSettings: settings + [
        .unsafeFlags(["-Xfrontend", "-entry-point-function-name", "-Xfrontend", "usertool_main"])
      ]
    ),
    target("cursor", [store]),
    target("values", [store, .product(name: "UserStoreFoundation", package: "UserStore"), "ToolSources"]),
    target("terminal", [store, "ToolSources"]),
    target("commandline", [store, parser, "ToolSources"]),
    target("image", [store, "CSQLiteImages"]),
  ]
)
