/// Why a store could not do what it was asked. Stores translate the codes of their database
/// themselves; `message` never holds SQL, payloads or tokens.
package struct StoreError: Error, Sendable, CustomStringConvertible {
  package enum Code: String, Sendable {
    /// Passing trouble: the same call may succeed later.
    case unavailable
    /// No room left to write. Nothing of the call was stored.
    case full
    /// Another process holds the database.
    case locked
    /// The database was written by a newer version of this program.
    case newerSchema
    /// The database has an older schema, or none: `entitlectl database migrate` helps.
    case olderSchema
    /// The feed does not reach so far back any more.
    case cursorExpired
    /// What is stored cannot be read.
    case corrupt
    case closed
    /// Any other fault of the database.
    case internalFault
  }

  package let code: Code
  package let message: String

  package init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  package var description: String { "\(code.rawValue): \(message)" }
}
