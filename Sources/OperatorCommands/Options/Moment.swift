import ArgumentParser
import EntitlementDomain

/// A moment on the command line: RFC 3339, or milliseconds since 1970.
struct Moment: ExpressibleByArgument {
  let milliseconds: Milliseconds

  init?(argument: String) {
    guard let milliseconds = Milliseconds(written: argument) else { return nil }
    self.milliseconds = milliseconds
  }
}

extension Milliseconds {
  /// For people: `2026-11-21 09:30:00Z`, without milliseconds.
  var display: String { rfc3339.replacing("T", with: " ") }
}
