import EntitlementService
import EntitlementStore
import NIOCore
import Wire

// Watches of the change feed, in the messages of the wire.

extension WatchRequest {
  init(_ request: WatchCustomerStatesRequest) throws {
    self.init(
      cursor: try request.cursor.map { try WatchCursor(parsing: $0) }, bundleID: request.bundleID,
      environment: request.environment, accounts: Set(request.accountIDs),
      kinds: ChangeKinds(request.kinds.map { ChangeKinds($0) }),
      isWithoutStates: request.isWithoutStates)
  }
}

extension WatchItem {
  /// The message. A state that does not fit beside its change is left out: whoever watches would
  /// otherwise not get past it.
  func encoded() throws -> ByteBuffer {
    let response = WatchCustomerStatesResponse(
      cursor: cursor.description, change: change.map { CustomerChange($0) })
    if let state, let joined = try response.encoded(joining: state),
      joined.readableBytes <= RPCLimits.maximumFrameData
    {
      return joined
    }
    return try response.encoded()
  }
}

extension CustomerChange {
  init(_ change: Change) {
    self.init(
      sequence: change.sequence, scope: change.scope,
      subject: change.subject.map { SubmittedCustomer.Subject($0) },
      committedAt: change.committedAt,
      kinds: Set(ChangeKind.allCases.filter { change.kinds.contains(ChangeKinds($0)) }),
      events: change.events)
  }
}

extension ChangeKinds {
  init(_ kind: ChangeKind) {
    switch kind {
    case .facts: self = .facts
    case .linked: self = .linked
    case .unlinked: self = .unlinked
    case .grants: self = .grants
    case .events: self = .events
    case .merged: self = .merged
    case .deleted: self = .deleted
    }
  }
}
