// swift-tools-version: 6.3
import PackageDescription

/// The library's settings.
let settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .strictMemorySafety(),
  .treatAllWarnings(as: .error),
]

// A package of its own, so that a program that embeds the library does not build it. It uses only the library's public API.
let package = Package(
  name: "Torture",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "UserStore", path: "../.."),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
  ],
  targets: [
    // What the tests share with the torture, as a link to its sources. It has a name of its own here, because no two packages
    // of one build may have targets of the same name. It imports CUserStoreSQLite, which the library's product brings with it.
    .target(
      name: "TortureSupport",
      dependencies: [.product(name: "UserStore", package: "UserStore")],
      path: "TestSupport",
      swiftSettings: settings
    ),
    .executableTarget(
      name: "torture",
      dependencies: [
        "TortureSupport",
        .product(name: "UserStore", package: "UserStore"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: ".",
      // Faults: a library of its own that is loaded before the C library; scripts/torture compiles it.
      exclude: ["Controls/Sabotaged", "Embedder", "Faults", "Scenario", "TestSupport"],
      swiftSettings: settings
    ),
    // The program that is killed. It uses neither Foundation nor swift-argument-parser, because it is started thousands of times.
    .executableTarget(
      name: "scenario",
      dependencies: ["TortureSupport", .product(name: "UserStore", package: "UserStore")],
      path: "Scenario",
      swiftSettings: settings
    ),
    // A program that embeds the library, for the torture to kill.
    .executableTarget(
      name: "embedder", dependencies: [.product(name: "UserStore", package: "UserStore")], path: "Embedder",
      swiftSettings: settings),
  ]
)
