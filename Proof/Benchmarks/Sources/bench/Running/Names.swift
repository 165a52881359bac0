/// Different names for a user, because a write of the same name would change nothing.
struct Names {
  private var count = 0

  mutating func next() -> String {
    count += 1
    return "name \(count)"
  }
}
