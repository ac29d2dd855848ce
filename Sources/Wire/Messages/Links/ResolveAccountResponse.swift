import CEntitleMessages
package import NIOCore

/// Whom an identifier leads to.
public struct ResolveAccountResponse: Hashable, WireMessage {
  /// An account, the one that it was merged into where it was, or a chain that no account has
  /// claimed; nil when nobody is known, or several such chains.
  public var subject: SubmittedCustomer.Subject?
  /// 0 when nothing is known.
  public var revision: Int64

  public init(subject: SubmittedCustomer.Subject?, revision: Int64) {
    self.subject = subject
    self.revision = revision
  }

  package static func decode(from buffer: ByteBuffer) throws(MessageError) -> Self {
    try read(from: buffer)
  }

  package func encode(into buffer: inout ByteBuffer) throws(MessageError) {
    try append(to: &buffer)
  }
}

extension ResolveAccountResponse: MappedMessage {
  static let shape = MessageShape(entitle__v1__resolve_account_response__init)

  init(reading message: Entitle__V1__ResolveAccountResponse) {
    switch message.customer_case {
    case ENTITLE__V1__RESOLVE_ACCOUNT_RESPONSE__CUSTOMER_ACCOUNT_ID:
      subject = .account(Self.identifier(message.account_id))
    case ENTITLE__V1__RESOLVE_ACCOUNT_RESPONSE__CUSTOMER_ORIGINAL_TRANSACTION_ID:
      subject = .unlinkedChain(Self.identifier(message.original_transaction_id))
    default:
      subject = nil
    }
    revision = message.revision
  }

  func write(
    to message: inout Entitle__V1__ResolveAccountResponse, in arena: MessageArena
  ) throws(MessageError) {
    switch subject {
    case .account(let id):
      message.account_id = try Self.text(id, "account_id", in: arena)
      message.customer_case = ENTITLE__V1__RESOLVE_ACCOUNT_RESPONSE__CUSTOMER_ACCOUNT_ID
    case .unlinkedChain(let id):
      message.original_transaction_id = try Self.text(id, "original_transaction_id", in: arena)
      message.customer_case =
        ENTITLE__V1__RESOLVE_ACCOUNT_RESPONSE__CUSTOMER_ORIGINAL_TRANSACTION_ID
    case nil:
      break
    }
    message.revision = revision
  }
}
