/// What all contenders share.
enum Setting {
  /// Bytes; the store's default.
  static let pageSize = 2_048
}
