import ArgumentParser

/// The options that say which tokens are accepted, for the server and for `token show`.
struct AccessOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "A file with public keys, PEM or a JWKS: accept JSON Web Tokens that they signed, and give each person only what the token says.",
      valueName: "path"),
    completion: .file())
  var accessKey: String?

  @Option(
    help: ArgumentHelp("The issuer (iss) that tokens must name, such as https://login.example.com.", valueName: "name"))
  var accessIssuer: String?

  @Option(help: ArgumentHelp("The audience (aud) that tokens must name: this server.", valueName: "name"))
  var accessAudience: String?

  func validate() throws {
    let names = [("--access-key", accessKey), ("--access-issuer", accessIssuer), ("--access-audience", accessAudience)]
    for (name, value) in names where value == "" { throw ValidationError("\(name) must not be empty") }
    for (name, value) in names where value != nil && accessKey == nil {
      throw ValidationError("\(name) needs --access-key")
    }
  }

  /// The keys of the server; nil without `--access-key`.
  ///
  /// Throws if the file cannot be used.
  func keys() async throws(Failure) -> AccessKeys? {
    guard let accessKey, let accessIssuer, let accessAudience else { return nil }
    return try await AccessKeys(file: accessKey, issuer: accessIssuer, audience: accessAudience)
  }
}
