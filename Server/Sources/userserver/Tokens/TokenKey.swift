import ArgumentParser
import Foundation
import JWTKit

/// Makes a pair of keys: `userserver token key FILE`.
struct TokenKey: TokenSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "key",
    abstract: "Make a pair of keys for development.",
    discussion: "FILE gets the private key, which only you can read, and FILE.pub the public one, for --access-key.")

  enum Algorithm: String, ExpressibleByArgument, CaseIterable {
    case edDSA = "EdDSA"
    case es256 = "ES256"
  }

  @Argument(help: ArgumentHelp("The file to create, in an existing folder.", valueName: "file"), completion: .file())
  var file: String

  @Option(help: ArgumentHelp("What tokens are signed with.", valueName: "algorithm"))
  var algorithm = Algorithm.edDSA

  func perform() throws {
    let (secret, published) = try pems()
    let files: [(path: String, mode: mode_t, content: String)] =
      [(file, 0o600, secret), (file + ".pub", 0o644, published)]
    var created: [String] = []
    do throws(Failure) {
      for file in files {
        let handle = try Self.create(file.path, mode: file.mode)
        created.append(file.path)
        try Self.write(file.content, to: handle, file.path)
      }
    } catch {
      // Half of a pair is of no use, and would be in the way of the next one.
      for path in created { try? FileManager.default.removeItem(atPath: path) }
      throw error
    }
    print("created \(file.shown) and \(file.shown).pub")
  }

  private func pems() throws -> (secret: String, published: String) {
    switch algorithm {
    case .edDSA:
      let key = try EdDSA.PrivateKey()
      return (key.pemRepresentation, key.publicKey.pemRepresentation)
    case .es256:
      let key = ES256PrivateKey()
      return (key.pemRepresentation, key.publicKey.pemRepresentation)
    }
  }

  /// Creates a file that has the mode from its first moment.
  ///
  /// Throws if there is a file already, even one that a link names.
  private static func create(_ path: String, mode: mode_t) throws(Failure) -> FileHandle {
    let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)
    if descriptor < 0 {
      switch errno {
      case EEXIST: throw Failure(73, "\(path) exists", hint: "choose another file, or remove it")
      case EACCES, EPERM, EROFS: throw Failure(77, "no permission to create \(path)")
      default: throw Failure(73, "cannot create \(path): \(unsafe String(cString: strerror(errno)))")
      }
    }
    // The mask of the account can only have taken rights of the public key away.
    if mode == 0o644 { fchmod(descriptor, mode) }
    return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
  }

  private static func write(_ content: String, to file: FileHandle, _ path: String) throws(Failure) {
    do {
      try file.write(contentsOf: Data((content + "\n").utf8))
      try file.synchronize()
      try file.close()
    } catch {
      throw Failure(73, "cannot write \(path): \(error.localizedDescription)")
    }
  }
}
