package import EntitlementDomain
package import EntitlementStore
import Workers

/// The error of the use cases. The front maps each code to one status of the protocol. Messages
/// never contain payloads, tokens or SQL.
package struct ServiceError: Error, Sendable, CustomStringConvertible {
  package enum Code: Hashable, Sendable {
    /// The request is invalid; `field` names the field at fault.
    case invalidArgument(field: String)
    /// The customer, chain or grant of the request is not known.
    case notFound
    /// The target exists already, with other values than requested.
    case alreadyExists
    /// The current state does not meet the condition of the request. Nothing was changed.
    case failedPrecondition
    /// The change feed no longer contains the position of the request.
    case outOfRange
    /// The account would have more chains than the app allows (R68). Nothing was changed.
    case accountFull
    /// The catalog does not accept archived responses of the app. Nothing was stored.
    case archivesNotAccepted
    /// The customer may not have the offer (R82–R84).
    case offerRefused(OfferRefusal)
    /// The catalog does not let callers say otherwise than the verdict; nil: the customer may have the
    /// offer (R84).
    case offerOverrideRefused(OfferRefusal?)
    /// Too many offers were signed for the customer or the app.
    case offerLimit(retryAfter: Duration)
    /// A queue is full. Nothing was done; a retry may succeed.
    case resourceExhausted
    /// The read was shed in overload. A retry may succeed.
    case overloaded
    /// The limit of concurrent exports is reached. A retry may succeed.
    case tooManyExports
    case deadlineExceeded
    /// The caller cancelled the call. Nothing was stored.
    case cancelled
    /// A transient fault. A retry may succeed.
    case unavailable
    /// The disk of the store is full. Nothing of the call was stored.
    case storageFull
    /// A call of the App Store Server API failed.
    case appStore(AppStoreFailure)
    case internalFault
  }

  package let code: Code
  package let message: String

  package init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  package var description: String { message }

  package init(_ error: StoreError) {
    switch error.code {
    case .unavailable, .locked, .closed:
      self.init(.unavailable, "the store is unavailable: \(error.message)")
    case .full:
      self.init(.storageFull, "the store is full: \(error.message)")
    case .cursorExpired:
      self.init(.outOfRange, "the change feed no longer contains this position")
    case .newerSchema, .olderSchema, .missing, .corrupt, .internalFault:
      self.init(.internalFault, "the store failed: \(error.message)")
    }
  }

  /// The pools whose work can fail.
  enum Work: String {
    case verification, evaluation
  }

  init(_ error: PoolError, of work: Work) {
    switch error {
    case .full: self.init(.resourceExhausted, "the \(work.rawValue) queue is full")
    case .deadlineExceeded:
      self.init(.deadlineExceeded, "the deadline passed before \(work.rawValue)")
    case .cancelled: self.init(.cancelled, "the caller cancelled the call")
    case .shutdown: self.init(.unavailable, "the server is shutting down")
    }
  }
}
