/// A test could not be carried out, or what it waited for did not happen.
struct HarnessFailure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}
