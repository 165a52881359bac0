// swift-tools-version: 6.3
import PackageDescription

/// As the library's, without strict memory safety: the C floor is called from here.
let settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .treatAllWarnings(as: .error),
]

// A package of its own, so that whoever uses the library fetches none of its peers.
let package = Package(
  name: "Benchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "UserStore", path: "../.."),
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
    // What SQLite itself costs: the same statements from C.
    .target(name: "CFloor", dependencies: ["CSQLiteFloor"]),
    .executableTarget(
      name: "bench",
      dependencies: [
        "CFloor", "CSQLiteFloor",
        .product(name: "UserStore", package: "UserStore"),
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "OpenCombine", package: "OpenCombine"),
        .product(name: "Histogram", package: "hdrhistogram-swift"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: settings
    ),
  ]
)
