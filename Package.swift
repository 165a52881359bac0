// swift-tools-version: 6.3
import PackageDescription

/// One list for every target, so that a file means the same wherever it lies.
let settings: [SwiftSetting] = [
  // Data races are compile-time errors.
  .swiftLanguageMode(.v6),
  // `any` marks every existential: its cost is visible where it is paid.
  .enableUpcomingFeature("ExistentialAny"),
  // A member is visible only where its module is imported, so that an import can be read as a dependency.
  .enableUpcomingFeature("MemberImportVisibility"),
  // What the public interface shows of another module is said with `public import`.
  .enableUpcomingFeature("InternalImportsByDefault"),
  // An async function runs where its caller runs, unless it says otherwise.
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  // Every step outside the checker's reach says `unsafe`; `scripts/test` allows that in two folders.
  .strictMemorySafety(),
  // A warning is a defect that was noticed early.
  .treatAllWarnings(as: .error),
]

let package = Package(
  name: "UserStore",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "UserStore", targets: ["UserStore"]),
    .library(name: "UserStoreFoundation", targets: ["UserStoreFoundation"]),
    .executable(name: "usertool", targets: ["usertool"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0")
  ],
  targets: [
    // No two packages of one build may have targets of the same name: those that others might choose too have ours in it
    // (swift-system, which SwiftNIO needs, has a CSystem).
    .systemLibrary(
      name: "CUserStoreSQLite",
      path: "Sources/CSQLite",
      pkgConfig: "sqlite3",
      providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]
    ),
    .target(name: "CUserStoreSystem", path: "Sources/CSystem"),
    .target(
      name: "UserStore",
      dependencies: ["CUserStoreSQLite", "CUserStoreSystem"],
      // A link to /migrations, because SwiftPM wants a target's resources inside its folder.
      resources: [.embedInCode("SQLite/Schema/migrations")],
      swiftSettings: settings
    ),
    .target(name: "UserStoreFoundation", dependencies: ["UserStore"], swiftSettings: settings),
    .executableTarget(
      name: "usertool",
      dependencies: [
        "UserStore",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: settings
    ),
    // What the tests share with each other, and with the torture, which compiles it too: SQLite without the library, and what
    // the log must say.
    .target(
      name: "TestSupport", dependencies: ["CUserStoreSQLite"], path: "Tests/TestSupport", swiftSettings: settings),
    .testTarget(
      name: "UserStoreTests",
      dependencies: ["UserStore", "UserStoreFoundation", "CUserStoreSQLite", "TestSupport"],
      swiftSettings: settings
    ),
    .testTarget(
      name: "usertoolTests",
      dependencies: ["UserStore", "usertool", "TestSupport"],
      swiftSettings: settings
    ),
  ]
)
