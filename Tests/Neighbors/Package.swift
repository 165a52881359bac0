// swift-tools-version: 6.3
import PackageDescription

// What needs other packages, in one build, so that each of them is compiled once (`programs`), and our library in one program
// with other well-known packages (`neighbors`): no two packages of one build may have targets or modules of the same name.
let package = Package(
  name: "Neighbors",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "UserStore", path: "../..", traits: ["GRDB"]),
    .package(name: "userserver", path: "../../Server"),
    .package(name: "Examples", path: "../../Examples"),
    .package(name: "Torture", path: "../../Proof/Torture"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
    .package(url: "https://github.com/apple/swift-system", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0"),
    .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
  ],
  targets: [
    .executableTarget(
      name: "programs",
      dependencies: [
        .product(name: "userserver", package: "userserver"),
        .product(name: "server", package: "Examples"),
        .product(name: "mirror", package: "Examples"),
        .product(name: "app", package: "Examples"),
        .product(name: "shop", package: "Examples"),
        .product(name: "orders", package: "Examples"),
        .product(name: "board", package: "Examples"),
        .product(name: "torture", package: "Torture"),
        .product(name: "scenario", package: "Torture"),
        .product(name: "embedder", package: "Torture"),
      ]),
    .executableTarget(
      name: "neighbors",
      dependencies: [
        .product(name: "UserStore", package: "UserStore"),
        .product(name: "UserStoreFoundation", package: "UserStore"),
        .product(name: "UserStoreGRDB", package: "UserStore"),
        .product(name: "UserStorePostgres", package: "UserStore"),
        .product(name: "UserStoreSync", package: "UserStore"),
        .product(name: "UserStoreSyncHTTP", package: "UserStore"),
        .product(name: "UserStoreText", package: "UserStore"),
        .product(name: "OrderedCollections", package: "swift-collections"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "_NIOFileSystem", package: "swift-nio"),
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "OpenCombine", package: "OpenCombine"),
        .product(name: "SystemPackage", package: "swift-system"),
      ]),
  ]
)
