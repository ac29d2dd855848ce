package struct EphemeralPostgresError: Error, CustomStringConvertible {
  package let description: String

  init(_ description: String) { self.description = description }
}
