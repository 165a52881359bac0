// swift-tools-version: 6.3
import PackageDescription

/// The library's settings, without strict memory safety, because this calls the floor in C.
let settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .treatAllWarnings(as: .error),
]

// A package of its own, so that a package that uses the library does not download the peers.
let package = Package(
  name: "Benchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "UserStore", path: "../..", traits: [.defaults, "GRDB"]),
    .package(name: "userserver", path: "../../Server"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
    .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", from: "0.2.0"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
  ],
  targets: [
    .systemLibrary(
      name: "CSQLiteFloor",
      pkgConfig: "sqlite3",
      providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]
    ),
    // The cost of SQLite itself: the same statements in C.
    .target(name: "CFloor", dependencies: ["CSQLiteFloor"]),
    .executableTarget(
      name: "bench",
      dependencies: [
        "CFloor", "CSQLiteFloor",
        .product(name: "UserStore", package: "UserStore"),
        .product(name: "UserStoreGRDB", package: "UserStore"),
        .product(name: "UserStoreSync", package: "UserStore"),
        .product(name: "UserStoreSyncHTTP", package: "UserStore"),
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "OpenCombine", package: "OpenCombine"),
        .product(name: "Histogram", package: "hdrhistogram-swift"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: settings
    ),
  ]
)
