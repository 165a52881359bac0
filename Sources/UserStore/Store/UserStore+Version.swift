extension UserStore {
  /// The version of the library, which is also that of `usertool`.
  public static let version = "0.1.0"
}
