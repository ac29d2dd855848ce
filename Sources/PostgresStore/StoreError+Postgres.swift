import EntitlementStore

extension StoreError {
  static let lockedElsewhere = StoreError(
    .unavailable, "another PostgreSQL session holds a required lock (55P03)")

  /// Translates an error of the database or of the connection. For an error of a statement, the
  /// message contains only the SQLSTATE, because messages of the server can quote values.
  init(translating failure: PostgresFailure) {
    switch failure.kind {
    case .server(.lockNotAvailable):
      self = .lockedElsewhere
    case .server(let state):
      self.init(Self.code(of: state), "PostgreSQL reported SQLSTATE \(state.code)")
    case .connectionLost:
      self.init(.unavailable, "the connection to PostgreSQL was lost")
    case .timedOut:
      self.init(.unavailable, "PostgreSQL did not answer in time")
    case .cannotConnect:
      self.init(.unavailable, "PostgreSQL cannot be reached: \(failure.message)")
    case .poolTimedOut:
      self.init(.unavailable, "no connection to PostgreSQL became free in time")
    case .overloaded:
      self.init(.unavailable, "too many calls are waiting for PostgreSQL")
    case .cancelled:
      self.init(.unavailable, "the call was cancelled")
    case .closed:
      self.init(.closed, "the store is closed")
    case .protocolViolation:
      self.init(.internalFault, "PostgreSQL returned an unexpected result")
    }
  }

  /// By SQLSTATE and its class (PostgreSQL manual, appendix A).
  private static func code(of state: SQLState) -> Code {
    switch state.code {
    case "53100": return .full
    // Damaged data or index, or a value that another program wrote.
    case "XX001", "XX002": return .corrupt
    // The table or column is missing although the version matches: the schema was changed by hand.
    case "42P01", "42703": return .corrupt
    // Missing privilege on a table.
    case "42501": return .internalFault
    case "25006", "40001", "40P01": return .unavailable
    default: break
    }
    switch state.category {
    // Connection, resources, operator intervention, system error.
    case "08", "53", "57", "58": return .unavailable
    default: return .internalFault
    }
  }
}

extension StoreError {
  /// Translates any error that a call of ``PostgresPool`` throws.
  init(of error: any Error) {
    switch error {
    case let error as StoreError: self = error
    case let failure as PostgresFailure: self.init(translating: failure)
    default: self.init(.internalFault, "unexpected error of type \(type(of: error))")
    }
  }
}

extension PostgresFailure {
  /// Whether the same transaction may succeed when it is retried.
  var isRetryable: Bool {
    switch kind {
    case .connectionLost: true
    case .server(let state):
      [.serializationFailure, .deadlockDetected, .lockNotAvailable].contains(state)
        || isPrimaryLost
    default: false
    }
  }

  /// Whether the server shuts down or is no longer the primary.
  var isPrimaryLost: Bool {
    guard case .server(let state) = kind else { return false }
    return state == .readOnlyTransaction || state.code.hasPrefix("57P")
  }

  /// Whether a commit among the commands may have taken place.
  var leavesCommitUnknown: Bool {
    guard wasSent else { return false }
    switch kind {
    case .server(let state): return state.code.hasPrefix("57P")
    case .connectionLost, .timedOut, .protocolViolation, .closed, .cancelled: return true
    case .cannotConnect, .poolTimedOut, .overloaded: return false
    }
  }
}
