/// What is missing when a file cannot be read.
extension DatabaseFile {
  /// SQLite calls it “a readonly database”, or “unable to open”, in words of its own for each stage that it comes to.
  ///
  /// `immutable=1` would open the file without a right to the folder, and is never used: it would not see the -wal file,
  /// and show pages that a writer is in the middle of changing.
  ///
  /// - Parameter error: What reading failed with.
  /// - Returns: nil when it is not a matter of rights.
  func missingRight(_ error: StoreError) -> StoreError? {
    guard let cause = error.cause as? SQLiteError, [.readOnly, .cannotOpen].contains(cause.code.primary) else {
      return nil
    }
    if let secret = [path, walPath, shmPath].first(where: isSecret) {
      return StoreError(.noPermission, "cannot read \(path): \(secret) may not be read", cause: cause)
    }
    let folder = Files.split(path).folder
    if Files.mayWrite(folder) { return nil }
    return StoreError(
      .needsWriter,
      "cannot read \(path): nobody has it open for writing, and \(folder), where SQLite must then make its -shm file, may not be written",
      cause: cause)
  }

  private func isSecret(_ path: String) -> Bool {
    (try? Files.kind(of: path)) == .regular && !Files.mayRead(path)
  }
}
