/// Why there is no answer. What the network itself says is passed on as it is.
package struct HTTPStatusError: Error, Hashable, Sendable, CustomStringConvertible {
  package enum Code: String, Hashable, Sendable {
    case unsupportedAddress
    case timeout
    /// Another HTTP status than 200, a redirect among them.
    case refused
    case tooLong
  }

  package let code: Code
  package let message: String

  package init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  package var description: String { message }
}
