import CEntitleMessages
public import EntitlementDomain

/// One entry of the change feed, with the state after it.
public struct CustomerChange: Hashable, Sendable {
  /// Grows in commit order.
  public var sequence: Int64
  public var scope: AppScope
  /// Whom it concerns; nil when no customer is known.
  public var subject: SubmittedCustomer.Subject?
  public var committedAt: Milliseconds
  /// Without those that only a newer server knows.
  public var kinds: Set<ChangeKind>
  /// What a notification asks somebody to do or to know.
  public var events: [FeedEvent]
  /// With this change, and perhaps with later ones, which follow all the same. Nil when the request
  /// asked for none, or no customer is known.
  public var state: CustomerState?

  public init(
    sequence: Int64, scope: AppScope, subject: SubmittedCustomer.Subject?,
    committedAt: Milliseconds, kinds: Set<ChangeKind>, events: [FeedEvent] = [],
    state: CustomerState? = nil
  ) {
    self.sequence = sequence
    self.scope = scope
    self.subject = subject
    self.committedAt = committedAt
    self.kinds = kinds
    self.events = events
    self.state = state
  }
}

extension CustomerChange: MappedMessage {
  static let shape = MessageShape(entitle__v1__customer_change__init)

  init(reading message: Entitle__V1__CustomerChange) throws(MessageError) {
    sequence = message.sequence
    scope = try Self.scope(bundleID: message.bundle_id, environment: message.environment)
    switch message.subject_case {
    case ENTITLE__V1__CUSTOMER_CHANGE__SUBJECT_ACCOUNT_ID:
      subject = .account(Self.identifier(message.account_id))
    case ENTITLE__V1__CUSTOMER_CHANGE__SUBJECT_ORIGINAL_TRANSACTION_ID:
      subject = .unlinkedChain(Self.identifier(message.original_transaction_id))
    default:
      subject = nil
    }
    committedAt = Milliseconds(message.committed_at_ms)
    kinds = Set(Self.known(message.kinds, count: message.n_kinds, of: ChangeKind.self))
    events = try Self.list(
      message.events, count: message.n_events, of: FeedEvent.self, where: FeedEvent.isKnown)
    state = try Self.optional(message.state, as: CustomerState.self)
  }

  func write(
    to message: inout Entitle__V1__CustomerChange, in arena: MessageArena
  ) throws(MessageError) {
    message.sequence = sequence
    message.bundle_id = try Self.text(scope.bundleID, "bundle_id", in: arena)
    message.environment = scope.environment.message
    switch subject {
    case .account(let id):
      message.account_id = try Self.text(id, "account_id", in: arena)
      message.subject_case = ENTITLE__V1__CUSTOMER_CHANGE__SUBJECT_ACCOUNT_ID
    case .unlinkedChain(let id):
      message.original_transaction_id = try Self.text(id, "original_transaction_id", in: arena)
      message.subject_case = ENTITLE__V1__CUSTOMER_CHANGE__SUBJECT_ORIGINAL_TRANSACTION_ID
    case nil:
      break
    }
    message.committed_at_ms = committedAt.rawValue
    message.n_kinds = kinds.count
    message.kinds = try Self.list(kinds.inOrder, as: Entitle__V1__ChangeKind.self, in: arena)
    message.n_events = events.count
    message.events = try Self.list(events, in: arena)
    if let state { message.state = try state.make(in: arena) }
  }
}
