import Foundation

/// The secret that clients send, even on loopback, to which every account of the machine can connect.
struct Token: Sendable {
  let text: String

  init() {
    var generator = SystemRandomNumberGenerator()
    let bytes = (0..<24).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    text = Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
  }

  /// Reads the token from a file that only its owner can read.
  init(file path: String) throws(Failure) {
    let permissions: Int
    let content: String
    do {
      // A link's permissions are not those of its file.
      let file = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
      let attributes = try FileManager.default.attributesOfItem(atPath: file)
      if attributes[.type] as? FileAttributeType == .typeDirectory { throw Failure(66, "\(path) is a folder") }
      permissions = (attributes[.posixPermissions] as? NSNumber)?.intValue ?? 0
      content = try String(contentsOfFile: path, encoding: .utf8)
    } catch let failure as Failure {
      throw failure
    } catch CocoaError.fileReadNoSuchFile {
      throw Failure(66, "there is no \(path)", hint: "(umask 077; openssl rand -base64 24 > \(path)) creates a token")
    } catch CocoaError.fileReadNoPermission {
      throw Failure(77, "no permission to read \(path)", hint: "the file must belong to the account of the server")
    } catch {
      throw Failure(66, "cannot read the token in \(path): \(error.localizedDescription)")
    }
    if permissions & 0o077 != 0 {
      throw Failure(78, "\(path) can be read by other accounts", hint: "chmod 600 \(path)")
    }
    text = content.trimmingCharacters(in: .whitespacesAndNewlines)
    // Valid in a header, and too long to be guessed.
    guard text.utf8.count >= 16, text.utf8.allSatisfy({ (0x21..<0x7F).contains($0) }) else {
      throw Failure(78, "the token in \(path) must have at least 16 ASCII characters without spaces")
    }
  }

  /// Compares in a time that is independent of the place of a difference.
  func matches(_ other: some StringProtocol) -> Bool {
    let (own, given) = (Array(text.utf8), Array(other.utf8))
    var difference = own.count ^ given.count
    for index in own.indices { difference |= Int(own[index] ^ (index < given.count ? given[index] : 0)) }
    return difference == 0
  }
}
