/// A condition was not met within the time limit of a test.
package struct NeverHappened: Error, CustomStringConvertible {
  package let description: String

  package init(_ description: String) {
    self.description = description
  }
}

/// Waits for a condition by checking it repeatedly.
///
/// - Parameter failure: the message when the condition is not met in time.
package func eventually(
  _ failure: @autoclosure () -> String = "not met in time", within limit: Duration = .seconds(60),
  file: StaticString = #fileID, line: UInt = #line, _ isSo: () async throws -> Bool
) async throws {
  let deadline = ContinuousClock.now + limit
  while try await !isSo() {
    guard ContinuousClock.now < deadline else {
      throw NeverHappened("\(file):\(line): \(failure())")
    }
    // The sleep leaves the processor to the code under test.
    try await Task.sleep(for: .milliseconds(2))
  }
}
