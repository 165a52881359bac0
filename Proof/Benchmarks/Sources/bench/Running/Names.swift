/// Names for a user, each another one than the one before: a write of the same name would be none.
struct Names {
  private var count = 0

  mutating func next() -> String {
    count += 1
    return "name \(count)"
  }
}
