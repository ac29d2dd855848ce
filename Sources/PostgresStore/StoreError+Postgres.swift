import EntitlementStore

extension StoreError {
  static let lockedElsewhere = StoreError(
    .unavailable, "another session of PostgreSQL keeps locked what is wanted (55P03)")

  /// Translates what the database or the way to it said. Messages name the SQLSTATE only: the
  /// server's own texts can hold values.
  init(translating failure: PostgresFailure) {
    switch failure.kind {
    case .server(.lockNotAvailable):
      self = .lockedElsewhere
    case .server(let state):
      self.init(Self.code(of: state), "PostgreSQL said \(state.code)")
    case .connectionLost:
      self.init(.unavailable, "the connection to PostgreSQL was lost")
    case .timedOut:
      self.init(.unavailable, "PostgreSQL did not answer in time")
    case .cannotConnect:
      self.init(.unavailable, "PostgreSQL cannot be reached: \(failure.message)")
    case .poolTimedOut:
      self.init(.unavailable, "all connections to PostgreSQL were busy")
    case .overloaded:
      self.init(.unavailable, "too many calls wait for PostgreSQL")
    case .cancelled:
      self.init(.unavailable, "the call was cancelled")
    case .closed:
      self.init(.closed, "the store is closed")
    case .protocolViolation:
      self.init(.internalFault, "PostgreSQL answered what was not expected")
    }
  }

  /// By the classes of PostgreSQL's manual, appendix A.
  private static func code(of state: SQLState) -> Code {
    switch state.code {
    case "53100": return .full
    // Damaged data, a damaged index; what another program wrote into our columns.
    case "XX001", "XX002": return .corrupt
    // No such table or column, though the version is ours: somebody else changed the schema.
    case "42P01", "42703": return .corrupt
    // A table may not be used.
    case "42501": return .internalFault
    case "25006", "40001", "40P01": return .unavailable
    default: break
    }
    switch state.category {
    // Connections, resources, the operator's intervention, errors of the server's system.
    case "08", "53", "57", "58": return .unavailable
    default: return .internalFault
    }
  }
}

extension PostgresFailure {
  /// Whether the same transaction may well succeed when it is begun again.
  var isWorthAnotherAttempt: Bool {
    switch kind {
    case .connectionLost: true
    case .server(let state):
      [.serializationFailure, .deadlockDetected, .lockNotAvailable].contains(state)
        || isServerLeaving
    default: false
    }
  }

  /// Whether the server said that it stops, or that it is no primary any more.
  var isServerLeaving: Bool {
    guard case .server(let state) = kind else { return false }
    return state == .readOnlyTransaction || state.code.hasPrefix("57P")
  }

  /// Whether a commit that was among the commands may have been done.
  var leavesCommitUnknown: Bool {
    guard wasSent else { return false }
    switch kind {
    case .server(let state): return state.code.hasPrefix("57P")
    case .connectionLost, .timedOut, .protocolViolation, .closed, .cancelled: return true
    case .cannotConnect, .poolTimedOut, .overloaded: return false
    }
  }
}
