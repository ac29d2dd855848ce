import CEntitleMessages
public import EntitlementDomain

/// A customer that a submission concerns, with the revision after it.
public struct SubmittedCustomer: Hashable, Sendable {
  public enum Subject: Hashable, Sendable {
    case account(AccountID)
    /// A chain that no account has claimed.
    case unlinkedChain(OriginalTransactionID)
  }

  public var subject: Subject
  public var scope: AppScope
  /// Read ``ReadConsistency/atLeastAsFresh(revision:)`` to see what was submitted.
  public var revision: Int64

  public init(subject: Subject, scope: AppScope, revision: Int64) {
    self.subject = subject
    self.scope = scope
    self.revision = revision
  }
}

extension SubmittedCustomer: MappedMessage {
  static let shape = MessageShape(entitle__v1__customer_revision__init)

  init(reading message: Entitle__V1__CustomerRevision) throws(MessageError) {
    switch message.customer_case {
    case ENTITLE__V1__CUSTOMER_REVISION__CUSTOMER_ACCOUNT_ID:
      subject = .account(Self.identifier(message.account_id))
    case ENTITLE__V1__CUSTOMER_REVISION__CUSTOMER_ORIGINAL_TRANSACTION_ID:
      subject = .unlinkedChain(Self.identifier(message.original_transaction_id))
    default:
      throw Self.error(.missing(field: "customer"))
    }
    scope = try Self.scope(bundleID: message.bundle_id, environment: message.environment)
    revision = message.revision
  }

  func write(
    to message: inout Entitle__V1__CustomerRevision, in arena: MessageArena
  ) throws(MessageError) {
    switch subject {
    case .account(let id):
      message.account_id = try Self.text(id, "account_id", in: arena)
      message.customer_case = ENTITLE__V1__CUSTOMER_REVISION__CUSTOMER_ACCOUNT_ID
    case .unlinkedChain(let id):
      message.original_transaction_id = try Self.text(id, "original_transaction_id", in: arena)
      message.customer_case = ENTITLE__V1__CUSTOMER_REVISION__CUSTOMER_ORIGINAL_TRANSACTION_ID
    }
    message.bundle_id = try Self.text(scope.bundleID, "bundle_id", in: arena)
    message.environment = scope.environment.message
    message.revision = revision
  }
}
