/// It did not come about within the time that a test gave it.
package struct NeverHappened: Error, CustomStringConvertible {
  package let description: String

  package init(_ description: String) {
    self.description = description
  }
}

/// Waits for what others bring about, by asking again and again.
///
/// - Parameter failure: what is said when it does not come about in time.
package func eventually(
  _ failure: @autoclosure () -> String = "it never happened", within limit: Duration = .seconds(60),
  file: StaticString = #fileID, line: UInt = #line, _ isSo: () async throws -> Bool
) async throws {
  let deadline = ContinuousClock.now + limit
  while try await !isSo() {
    guard ContinuousClock.now < deadline else {
      throw NeverHappened("\(file):\(line): \(failure())")
    }
    // What is waited for needs the processor too.
    try await Task.sleep(for: .milliseconds(2))
  }
}
