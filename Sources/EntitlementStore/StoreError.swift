/// The error of a store. Each store maps the error codes of its database. `message` never contains
/// SQL, payloads or tokens.
package struct StoreError: Error, Sendable, CustomStringConvertible {
  package enum Code: String, Sendable {
    /// A transient fault. A retry may succeed.
    case unavailable
    /// The disk is full. Nothing of the call was stored.
    case full
    /// Another process has locked the database.
    case locked
    /// The database was written by a newer version of this program.
    case newerSchema
    /// The database has an older schema, or none. `entitlectl database migrate` updates it.
    case olderSchema
    /// There is no database, and none was to be created.
    case missing
    /// The feed no longer contains the position.
    case cursorExpired
    /// Stored data is damaged. The database must be restored from a backup.
    case corrupt
    case closed
    /// Any other fault.
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
