/// The run itself could not go on: a program did not start, a database did not come back. What the
/// service did wrong is a ``FindingKind``.
struct ChaosFailure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}
