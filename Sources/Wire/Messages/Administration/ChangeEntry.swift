import CEntitleMessages
package import EntitlementDomain

/// One entry of the change feed.
package struct ChangeEntry: Hashable, Sendable {
  /// Grows in commit order.
  package var sequence: Int64
  package var scope: AppScope
  /// Whom it concerns; nil when no customer is known.
  package var subject: SubmittedCustomer.Subject?
  package var committedAt: Milliseconds
  /// The customer has new facts.
  package var hasFacts: Bool
  /// A chain or app transaction came to this customer.
  package var isLinked: Bool
  /// A chain or app transaction left this customer.
  package var isUnlinked: Bool
  /// A grant was given or withdrawn.
  package var hasGrants: Bool
  /// The account was merged into another, or another into it.
  package var isMerged: Bool
  /// The account was deleted.
  package var isDeleted: Bool
  /// What a notification asks somebody to do or to know.
  package var events: [FeedEvent]

  package init(
    sequence: Int64, scope: AppScope, subject: SubmittedCustomer.Subject?,
    committedAt: Milliseconds, hasFacts: Bool = false, isLinked: Bool = false,
    isUnlinked: Bool = false, hasGrants: Bool = false, isMerged: Bool = false,
    isDeleted: Bool = false, events: [FeedEvent] = []
  ) {
    self.sequence = sequence
    self.scope = scope
    self.subject = subject
    self.committedAt = committedAt
    self.hasFacts = hasFacts
    self.isLinked = isLinked
    self.isUnlinked = isUnlinked
    self.hasGrants = hasGrants
    self.isMerged = isMerged
    self.isDeleted = isDeleted
    self.events = events
  }
}

extension ChangeEntry: MappedMessage {
  static let shape = MessageShape(entitle__v1__change__init)

  init(reading message: Entitle__V1__Change) throws(MessageError) {
    sequence = message.sequence
    scope = try Self.scope(bundleID: message.bundle_id, environment: message.environment)
    switch message.subject_case {
    case ENTITLE__V1__CHANGE__SUBJECT_ACCOUNT_ID:
      subject = .account(Self.identifier(message.account_id))
    case ENTITLE__V1__CHANGE__SUBJECT_ORIGINAL_TRANSACTION_ID:
      subject = .unlinkedChain(Self.identifier(message.original_transaction_id))
    default:
      subject = nil
    }
    committedAt = Milliseconds(message.committed_at_ms)
    hasFacts = message.facts != 0
    isLinked = message.linked != 0
    isUnlinked = message.unlinked != 0
    hasGrants = message.grants != 0
    isMerged = message.merged != 0
    isDeleted = message.deleted != 0
    events = try Self.list(
      message.events, count: message.n_events, of: FeedEvent.self, where: FeedEvent.isKnown)
  }

  func write(
    to message: inout Entitle__V1__Change, in arena: MessageArena
  ) throws(MessageError) {
    message.sequence = sequence
    message.bundle_id = try Self.text(scope.bundleID, "bundle_id", in: arena)
    message.environment = scope.environment.message
    switch subject {
    case .account(let id):
      message.account_id = try Self.text(id, "account_id", in: arena)
      message.subject_case = ENTITLE__V1__CHANGE__SUBJECT_ACCOUNT_ID
    case .unlinkedChain(let id):
      message.original_transaction_id = try Self.text(id, "original_transaction_id", in: arena)
      message.subject_case = ENTITLE__V1__CHANGE__SUBJECT_ORIGINAL_TRANSACTION_ID
    case nil:
      break
    }
    message.committed_at_ms = committedAt.rawValue
    message.facts = hasFacts ? 1 : 0
    message.linked = isLinked ? 1 : 0
    message.unlinked = isUnlinked ? 1 : 0
    message.grants = hasGrants ? 1 : 0
    message.merged = isMerged ? 1 : 0
    message.deleted = isDeleted ? 1 : 0
    message.n_events = events.count
    message.events = try Self.list(events, in: arena)
  }
}
