// swift-tools-version: 6.3
import PackageDescription

// A program that opens many stores at once, for the article “A store per tenant”.
let package = Package(
  name: "Tenants",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "UserStore", path: "../..", traits: [])],
  targets: [
    .executableTarget(
      name: "tenants",
      dependencies: [.product(name: "UserStore", package: "UserStore")],
      swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)])
  ]
)
