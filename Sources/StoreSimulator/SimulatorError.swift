import Cryptography

/// An error of the simulated App Store. It never contains key material.
package struct SimulatorError: Error, Hashable, Sendable, CustomStringConvertible {
  package enum Code: String, Hashable, Sendable {
    /// A file of the authority could not be read or written.
    case file
    /// The directory does not contain one complete authority.
    case damagedAuthority
    /// A key or certificate could not be created or used.
    case cryptography
  }

  package let code: Code
  package let message: String

  package init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  package var description: String { message }
}

extension SimulatorError {
  /// Runs `body` and converts its error to a ``SimulatorError``.
  static func wrapping<Result>(
    _ body: () throws(CryptographyError) -> Result
  ) throws(SimulatorError) -> Result {
    do {
      return try body()
    } catch {
      throw SimulatorError(.cryptography, error.message)
    }
  }
}
