import CLibFuzzer

/// A change of an image.
enum Mutation: CaseIterable {
  case plan, header, pageHeader, pageBytes, cellPointer, swapPages, copyPage, truncate, schemaText
  case walPage, walHeader, walTruncate, walUnsigned, statement, statementAgain

  static func random(_ generator: inout Generator) -> Mutation {
    allCases.randomElement(using: &generator) ?? .plan
  }

  func apply(to image: inout Image, _ generator: inout Generator) {
    switch self {
    case .plan: image.plan = UInt8.random(in: .min ... .max, using: &generator)
    case .header: Self.change(&image.database, Self.headerField(&generator), &generator)
    case .pageHeader:
      inPage(&image, &generator) { start, _, generator in start..<start + Int.random(in: 1...12, using: &generator) }
    case .pageBytes:
      inPage(&image, &generator) { start, size, generator in Self.range(in: start..<start + size, &generator) }
    case .cellPointer:
      inPage(&image, &generator) { start, _, generator in
        let pointer = start + 8 + 2 * Int.random(in: 0..<8, using: &generator)
        return pointer..<pointer + 2
      }
    case .swapPages: Self.swapPages(of: &image, &generator)
    case .copyPage: Self.copyPage(of: &image, &generator)
    case .truncate: image.database.removeLast(min(image.database.count, Self.tail(image, &generator)))
    case .schemaText: Self.changeSchema(of: &image, &generator)
    case .walPage, .walHeader, .walTruncate, .walUnsigned: applyToWAL(of: &image, &generator)
    case .statement, .statementAgain: Statements.run(on: &image, &generator)
    }
  }

  /// A field of the file's header that SQLite or the library reads.
  private static func headerField(_ generator: inout Generator) -> Range<Int> {
    [
      16..<18, 18..<19, 19..<20, 20..<21, 24..<28, 28..<32, 32..<36, 36..<40, 40..<44, 44..<48, 52..<56, 56..<60,
      60..<64,
      64..<68, 68..<72, 92..<96, 96..<100,
    ].randomElement(using: &generator)!
  }

  private static func range(in bounds: Range<Int>, _ generator: inout Generator) -> Range<Int> {
    let start = Int.random(in: bounds, using: &generator)
    return start..<min(bounds.upperBound, start + [1, 2, 4, 9, 32].randomElement(using: &generator)!)
  }

  /// Lets libFuzzer change a range of bytes in place.
  private static func change(_ bytes: inout [UInt8], _ range: Range<Int>, _ generator: inout Generator) {
    guard !range.isEmpty, range.upperBound <= bytes.count else { return }
    bytes.withUnsafeMutableBufferPointer { bytes in
      _ = LLVMFuzzerMutate(bytes.baseAddress! + range.lowerBound, range.count, range.count)
    }
  }

  private func inPage(
    _ image: inout Image, _ generator: inout Generator,
    _ place: (_ start: Int, _ size: Int, inout Generator) -> Range<Int>
  ) {
    guard image.pages > 0 else { return }
    let page = Int.random(in: 0..<image.pages, using: &generator)
    let start = page == 0 ? 100 : page * image.pageSize
    Self.change(&image.database, place(start, image.pageSize - (page == 0 ? 100 : 0), &generator), &generator)
  }

  // MARK: Whole pages

  private static func pageRange(_ image: Image, _ generator: inout Generator) -> Range<Int>? {
    let whole = image.database.count / image.pageSize
    guard whole > 1 else { return nil }
    let start = Int.random(in: 1..<whole, using: &generator) * image.pageSize
    return start..<start + image.pageSize
  }

  private static func swapPages(of image: inout Image, _ generator: inout Generator) {
    guard let one = pageRange(image, &generator), let other = pageRange(image, &generator) else { return }
    let (first, second) = (Array(image.database[one]), Array(image.database[other]))
    image.database.replaceSubrange(one, with: second)
    image.database.replaceSubrange(other, with: first)
  }

  private static func copyPage(of image: inout Image, _ generator: inout Generator) {
    guard let one = pageRange(image, &generator), let other = pageRange(image, &generator) else { return }
    image.database.replaceSubrange(other, with: Array(image.database[one]))
  }

  /// Some whole pages, or a part of one.
  private static func tail(_ image: Image, _ generator: inout Generator) -> Int {
    Bool.random(using: &generator)
      ? image.pageSize * Int.random(in: 1...4, using: &generator)
      : Int.random(in: 1...image.pageSize, using: &generator)
  }

  // MARK: The schema's text

  private static func changeSchema(of image: inout Image, _ generator: inout Generator) {
    let bytes = image.database
    let places = bytes.indices.dropLast(3).filter {
      bytes[$0] == 0x43 && bytes[$0 + 1] == 0x52 && bytes[$0 + 2] == 0x45
    }  // CRE
    guard let start = places.randomElement(using: &generator) else { return }
    let words = [
      "VIEW", "TABLE", "x", "INSTEAD OF", "WITH", "AS", "users", "changes", "SELECT", " ", "1", "NULL", "--", "/*",
    ]
    let word = Array(words.randomElement(using: &generator)!.utf8)
    let place = start + Int.random(in: 0..<200, using: &generator)
    guard place + word.count < image.database.count else { return }
    image.database.replaceSubrange(place..<place + word.count, with: word)
  }

  // MARK: The -wal file

  private func applyToWAL(of image: inout Image, _ generator: inout Generator) {
    let frame = WAL.frameHeaderSize + image.pageSize
    guard image.wal.count >= WAL.headerSize + frame else { return }
    let index = Int.random(in: 0..<(image.wal.count - WAL.headerSize) / frame, using: &generator)
    let start = WAL.headerSize + index * frame
    switch self {
    case .walHeader: Self.change(&image.wal, Self.range(in: 0..<WAL.headerSize, &generator), &generator)
    case .walTruncate: image.wal.removeLast(image.wal.count - start)
    case .walUnsigned: return Self.change(&image.wal, Self.range(in: start..<start + frame, &generator), &generator)
    default:
      let place =
        Bool.random(using: &generator) ? start..<start + 8 : Self.range(in: start + 24..<start + frame, &generator)
      Self.change(&image.wal, place, &generator)
    }
    WAL.sign(&image.wal, pageSize: image.pageSize)
  }
}
