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
  products: [
    .executable(name: "torture", targets: ["torture"]),
    .executable(name: "scenario", targets: ["scenario"]),
    .executable(name: "embedder", targets: ["embedder"]),
  ],
  dependencies: [
    .package(name: "UserStore", path: "../..", traits: []),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
  ],
  targets: [
    // A link to Tests/TestSupport. It has another name here, because two packages of one build must not have targets with the
    // same name. It may import CUserStoreSQLite, because the library's product makes that module visible.
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
      // Faults is a library that is loaded before the C library. scripts/torture compiles it.
      exclude: ["Controls/Sabotaged", "Embedder", "Faults", "README.md", "Scenario", "TestSupport"],
      swiftSettings: settings
    ),
    // The program that sweeps and power cuts kill. It is started thousands of times, so that it has no argument parser.
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
