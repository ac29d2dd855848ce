/// A test could not be run, or an expected event did not happen.
struct HarnessFailure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}
