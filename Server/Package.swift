// swift-tools-version: 6.3
import PackageDescription

// The settings of the library's targets (../Package.swift says what each is for), but for NonisolatedNonsendingByDefault: the
// writers of Hummingbird's responses are not Sendable, and their functions leave the caller's actor.
let settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .strictMemorySafety(),
  .treatAllWarnings(as: .error),
]

// A separate package: programs that embed the library do not download a web server.
let package = Package(
  name: "userserver",
  platforms: [.macOS(.v15)],
  products: [.executable(name: "userserver", targets: ["userserver"])],
  dependencies: [
    .package(name: "UserStore", path: "..", traits: []),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-async-algorithms", from: "1.1.0"),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.1.0"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.12.0"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.9.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.95.0"),
    .package(url: "https://github.com/apple/swift-nio-extras", from: "1.30.0"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.8.0"),
    .package(url: "https://github.com/vapor/jwt-kit", from: "5.7.0"),
  ],
  targets: [
    .target(name: "CUserServerFiles", path: "Sources/CFiles"),
    .executableTarget(
      name: "userserver",
      dependencies: [
        "CUserServerFiles",
        .product(name: "UserStore", package: "UserStore"),
        .product(name: "UserStorePostgres", package: "UserStore"),
        .product(name: "UserStoreSync", package: "UserStore"),
        .product(name: "UserStoreText", package: "UserStore"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "AsyncAlgorithms", package: "swift-async-algorithms"),
        .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "Metrics", package: "swift-metrics"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
        .product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "HummingbirdCore", package: "hummingbird"),
        .product(name: "JWTKit", package: "jwt-kit"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
        .product(name: "UnixSignals", package: "swift-service-lifecycle"),
      ],
      exclude: ["Page/Files", "API/openapi.json"],
      swiftSettings: settings),
  ],
  // With #embed.
  cLanguageStandard: .gnu2x
)
