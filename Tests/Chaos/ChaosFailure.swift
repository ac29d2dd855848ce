/// An error of the run itself: a program did not start, or a database did not come back. A fault of
/// the service is a ``FindingKind``.
struct ChaosFailure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}
