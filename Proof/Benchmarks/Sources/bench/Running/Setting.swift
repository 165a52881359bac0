/// The settings that all contenders share.
enum Setting {
  /// The page size in bytes, which is the store's default.
  static let pageSize = 2_048
}
