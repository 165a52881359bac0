import Foundation

/// The checkout in which this was built and runs.
enum Checkout {
  /// The folder of the package.
  static let benchmarks = URL(filePath: #filePath).appending(path: "../../../..").standardizedFileURL
}
