/// Why the simulated App Store could not do what it was asked. Never holds key material.
package struct SimulatorError: Error, Hashable, Sendable, CustomStringConvertible {
  package enum Code: String, Hashable, Sendable {
    /// A file of the authority could not be read or written.
    case file
    /// The directory holds something else than one complete authority.
    case damagedAuthority
    /// A key or certificate could not be made or used.
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
