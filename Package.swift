// swift-tools-version: 6.3
import PackageDescription

/// The settings of every target, so that a file means the same in every folder.
let settings: [SwiftSetting] = [
  // Data races are compile-time errors.
  .swiftLanguageMode(.v6),
  // `any` marks every existential, so that its cost is visible.
  .enableUpcomingFeature("ExistentialAny"),
  // A member is visible only where its module is imported, so that the imports are the dependencies.
  .enableUpcomingFeature("MemberImportVisibility"),
  // Only a `public import` may appear in the public interface.
  .enableUpcomingFeature("InternalImportsByDefault"),
  // An async function runs on its caller's actor unless it says otherwise.
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  // `unsafe` marks every operation that the compiler cannot check. `scripts/check-structure` allows it in two folders.
  .strictMemorySafety(),
  // A warning is a defect that is found early.
  .treatAllWarnings(as: .error),
]

let package = Package(
  name: "UserStore",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "UserStore", targets: ["UserStore"]),
    .library(name: "UserStoreFoundation", targets: ["UserStoreFoundation"]),
    .library(name: "UserStoreGRDB", targets: ["UserStoreGRDB"]),
    .library(name: "UserStorePostgres", targets: ["UserStorePostgres"]),
    .library(name: "UserStoreSync", targets: ["UserStoreSync"]),
    .library(name: "UserStoreSyncHTTP", targets: ["UserStoreSyncHTTP"]),
    .library(name: "UserStoreText", targets: ["UserStoreText"]),
    .executable(name: "usertool", targets: ["usertool"]),
    .executable(name: "usertool-postgres", targets: ["usertool-postgres"]),
    .executable(name: "usertool-sync", targets: ["usertool-sync"]),
  ],
  traits: [
    .default(enabledTraits: ["Tool"]),
    // A package that turns it off with `traits: []` does not download the argument parser.
    .trait(name: "Tool", description: "The command-line tool, usertool."),
    // Off by default, so that nobody else downloads GRDB.
    .trait(name: "GRDB", description: "UserStoreGRDB, typed operations in the transactions of GRDB."),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
  ],
  targets: [
    // Two packages of one build must not have targets with the same name, so that common names have our prefix
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
      // A link to /migrations, because SwiftPM requires resources to be inside the target's folder.
      resources: [.embedInCode("SQLite/Schema/migrations")],
      swiftSettings: settings
    ),
    .target(name: "UserStoreFoundation", dependencies: ["UserStore"], swiftSettings: settings),
    // Empty without the trait.
    .target(
      name: "UserStoreGRDB",
      dependencies: [
        "UserStore", .product(name: "GRDB", package: "GRDB.swift", condition: .when(traits: ["GRDB"])),
      ],
      swiftSettings: settings),
    // The second engine. Only what uses it links libpq.
    .systemLibrary(
      name: "CUserStoreLibPQ",
      path: "Sources/CLibPQ",
      pkgConfig: "libpq",
      providers: [.apt(["libpq-dev"]), .brew(["libpq"])]
    ),
    .target(
      name: "UserStorePostgres", dependencies: ["UserStore", "UserStoreText", "CUserStoreLibPQ"],
      resources: [.embedInCode("Schema/migrations")],
      swiftSettings: settings),
    // What usertool, a server, and the engine on PostgreSQL share: queries, records, and addresses of databases as text.
    .target(name: "UserStoreText", dependencies: ["UserStore"], swiftSettings: settings),
    // Replicas, and the server's half of them; without Foundation, which only the transport of HTTP needs.
    .target(name: "UserStoreSync", dependencies: ["UserStore"], swiftSettings: settings),
    // Only on Linux: the URLSession there ends the process if an answer is cut off in its head, sends a request again without its body,
    // and takes a whole core while it waits for the first answer of a connection.
    .target(
      name: "CUserStoreCurl", path: "Sources/CCurl",
      linkerSettings: [.linkedLibrary("curl", .when(platforms: [.linux]))]),
    .target(
      name: "UserStoreSyncHTTP",
      dependencies: [
        "UserStore", "UserStoreSync", .target(name: "CUserStoreCurl", condition: .when(platforms: [.linux])),
      ],
      swiftSettings: settings),
    .target(
      name: "UserToolCommands",
      dependencies: [
        "UserStore", "UserStoreSync", "UserStoreText",
        .product(name: "ArgumentParser", package: "swift-argument-parser", condition: .when(traits: ["Tool"])),
      ],
      swiftSettings: settings,
      // On Linux, iconv is in the C library.
      linkerSettings: [.linkedLibrary("iconv", .when(platforms: [.macOS]))]
    ),
    // A program of its own, because curl loads OpenSSL, Kerberos and LDAP at each start.
    .executableTarget(
      name: "usertool-sync", dependencies: ["UserStore", "UserStoreSync", "UserStoreSyncHTTP", "UserToolCommands"],
      swiftSettings: settings),
    .executableTarget(name: "usertool", dependencies: ["UserToolCommands"], swiftSettings: settings),
    // A program of its own, because libpq loads OpenSSL, Kerberos and LDAP at each start.
    .executableTarget(
      name: "usertool-postgres", dependencies: ["UserStore", "UserStorePostgres", "UserToolCommands"],
      swiftSettings: settings),
    // Shared by the tests and compiled by Proof/Torture too: SQLite without the library, and checks of the log.
    .target(
      name: "TestSupport", dependencies: ["CUserStoreSQLite"], path: "Tests/TestSupport", swiftSettings: settings),
    .testTarget(
      name: "UserStoreTests",
      dependencies: [
        "UserStore", "UserStoreFoundation", "UserStorePostgres", "UserStoreText", "CUserStoreSQLite", "TestSupport",
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "UserStoreSyncTests",
      dependencies: [
        "UserStore", "UserStorePostgres", "UserStoreSync", "UserStoreSyncHTTP", "CUserStoreLibPQ", "TestSupport",
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "UserStorePostgresTests",
      dependencies: ["UserStore", "UserStorePostgres", "UserStoreSync"],
      swiftSettings: settings
    ),
    // The examples of the README and the articles, as a program outside of this package compiles them.
    .testTarget(
      name: "DocumentationTests",
      dependencies: ["UserStore", "UserStorePostgres", "UserStoreSync", "UserStoreSyncHTTP"],
      packageAccess: false,
      swiftSettings: settings
    ),
    .testTarget(
      name: "usertoolTests",
      dependencies: [
        "UserStore", "UserStoreSync", "UserStoreText", "UserToolCommands", "usertool", "usertool-sync", "TestSupport",
        .product(name: "ArgumentParser", package: "swift-argument-parser", condition: .when(traits: ["Tool"])),
      ],
      swiftSettings: settings
    ),
  ]
)
