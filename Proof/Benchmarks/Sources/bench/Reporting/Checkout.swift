import Foundation

/// Where this was built: benchmarks are run in the checkout that they were built from.
enum Checkout {
  /// The folder of the package.
  static let benchmarks = URL(filePath: #filePath).appending(path: "../../../..").standardizedFileURL
}
