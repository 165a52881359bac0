// swift-tools-version: 6.3
import PackageDescription

// A program that writes and listens on one machine of several, for the figures and the torture of the engine on PostgreSQL.
let package = Package(
  name: "Machines",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "UserStore", path: "../../..", traits: [])],
  targets: [
    .executableTarget(
      name: "machines",
      dependencies: [
        .product(name: "UserStore", package: "UserStore"), .product(name: "UserStorePostgres", package: "UserStore"),
      ],
      swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)])
  ]
)
