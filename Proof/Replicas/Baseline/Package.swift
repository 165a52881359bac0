// swift-tools-version: 6.3
import PackageDescription

// A package of its own, which nothing else needs.
let package = Package(
  name: "Baseline",
  platforms: [.macOS(.v15)],
  dependencies: [.package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0")],
  targets: [
    .executableTarget(
      name: "baseline",
      dependencies: [.product(name: "GRDB", package: "GRDB.swift")],
      path: "Sources",
      swiftSettings: [.swiftLanguageMode(.v6)]
    )
  ]
)
