// swift-tools-version: 6.3
import PackageDescription

// Programs that embed the library, through its public interface only. `scripts/test` builds and runs them.
let package = Package(
  name: "Examples",
  platforms: [.macOS(.v15)],
  products: [
    .executable(name: "server", targets: ["server"]),
    .executable(name: "mirror", targets: ["mirror"]),
    .executable(name: "app", targets: ["app"]),
    .executable(name: "shop", targets: ["shop"]),
    .executable(name: "board", targets: ["board"]),
    .executable(name: "orders", targets: ["orders"]),
  ],
  dependencies: [
    .package(name: "UserStore", path: "..", traits: ["GRDB"]),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.6.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.8.0"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
  ],
  targets: [
    .executableTarget(
      name: "server",
      dependencies: [
        .product(name: "UserStore", package: "UserStore"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ]),
    .executableTarget(
      name: "mirror",
      dependencies: [
        .product(name: "UserStore", package: "UserStore"),
        .product(name: "GRDB", package: "GRDB.swift"),
      ]),
    .executableTarget(
      name: "shop",
      dependencies: [
        .product(name: "UserStore", package: "UserStore"),
        .product(name: "UserStoreGRDB", package: "UserStore"),
        .product(name: "GRDB", package: "GRDB.swift"),
      ]),
    .executableTarget(
      name: "board",
      dependencies: [
        .product(name: "UserStore", package: "UserStore"),
        .product(name: "UserStoreSync", package: "UserStore"),
        .product(name: "UserStoreSyncHTTP", package: "UserStore"),
      ]),
    .systemLibrary(name: "CLibPQ", pkgConfig: "libpq", providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
    .executableTarget(
      name: "orders",
      dependencies: [
        "CLibPQ",
        .product(name: "UserStore", package: "UserStore"),
        .product(name: "UserStorePostgres", package: "UserStore"),
      ]),
    .executableTarget(name: "app", dependencies: [.product(name: "UserStore", package: "UserStore")]),
  ]
)
