import CUserServerFiles
import HTTPTypes
import Hummingbird

/// A file of the page, embedded in the program.
struct PageFile: Sendable {
  private let type: String
  private let bytes: [UInt8]
  private let tag: ETag

  private init(_ name: String, _ bytes: [UInt8]) {
    let suffix = name.split(separator: ".").last ?? ""
    type =
      switch suffix {
      case "html": "text/html; charset=utf-8"
      case "css": "text/css; charset=utf-8"
      case "svg": "image/svg+xml"
      default: "text/javascript; charset=utf-8"
      }
    self.bytes = bytes
    tag = ETag(of: bytes)
  }

  /// The file at a path; the paths of views have the page's.
  static func at(_ path: String) -> PageFile? {
    files[["/", "/screens", "/log", "/pulse"].contains(path) ? "/index.html" : path]
  }

  private static let files: [String: PageFile] = {
    var files: [String: PageFile] = [:]
    var next = unsafe page_files()
    while let file = unsafe next?.pointee, let name = unsafe file.name, let text = unsafe file.text {
      let name = unsafe String(cString: name)
      files["/" + name] = PageFile(name, Array(unsafe String(cString: text).utf8))
      unsafe next = unsafe next?.successor()
    }
    return files
  }()

  func response(_ request: Request) async throws -> Response {
    var headers: HTTPFields = [.eTag: tag.text, .cacheControl: "no-cache"]
    if try EntityTags(.ifNoneMatch, of: request)?.contain(tag, isWeak: true) ?? false {
      return Response(status: .notModified, headers: headers)
    }
    headers[.contentType] = type
    return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
  }
}
