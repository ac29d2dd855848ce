import EntitlementStore
import Verification

/// Why a use case could not answer. The front maps each code to one status of the wire; messages
/// never hold payloads, tokens or SQL.
package struct ServiceError: Error, Sendable, CustomStringConvertible {
  package enum Code: Hashable, Sendable {
    /// The request says something that cannot be; `field` names where.
    case invalidArgument(field: String)
    /// What the request names is not known.
    case notFound
    /// What the request would make is there already, in another way.
    case alreadyExists
    /// Things are not as the request says that they must be. Nothing was done.
    case failedPrecondition
    /// The change feed does not reach back so far any more, or what was told of it is lost.
    case outOfRange
    /// The catalog does not accept archived responses of the app. Nothing was stored.
    case archivesNotAccepted
    /// A queue is full: nothing was done, and the same call may succeed later.
    case resourceExhausted
    /// More is read than can be answered in time: nothing was read, and the same call may succeed later.
    case overloaded
    /// As many accounts are being exported as may be at once: the same call may succeed later.
    case tooManyExports
    case deadlineExceeded
    /// Nobody waits for the answer any more. Nothing was stored.
    case cancelled
    /// A passing fault: the same call may succeed later.
    case unavailable
    /// No room left to store anything. Nothing of the call was stored.
    case storageFull
    case internalFault
  }

  package let code: Code
  package let message: String

  package init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  package var description: String { message }

  init(_ error: StoreError) {
    switch error.code {
    case .unavailable, .locked, .closed:
      self.init(.unavailable, "the store cannot answer now: \(error.message)")
    case .full:
      self.init(.storageFull, "the store is full: \(error.message)")
    case .cursorExpired:
      self.init(.outOfRange, "the change feed does not reach back to this position, or has lost it")
    case .newerSchema, .olderSchema, .corrupt, .internalFault:
      self.init(.internalFault, "the store failed: \(error.message)")
    }
  }

  init(_ error: PoolError) {
    switch error {
    case .full: self.init(.resourceExhausted, "too many payloads wait to be verified")
    case .deadlineExceeded: self.init(.deadlineExceeded, "the deadline passed before verification")
    case .cancelled: self.init(.cancelled, "the caller does not wait any more")
    case .shutdown: self.init(.unavailable, "the server is shutting down")
    }
  }
}
