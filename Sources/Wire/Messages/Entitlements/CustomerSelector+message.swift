import CEntitleMessages
import EntitlementDomain

extension CustomerSelector: MappedMessage {
  static let shape = MessageShape(entitle__v1__customer_selector__init)

  init(reading message: Entitle__V1__CustomerSelector) throws(MessageError) {
    switch message.selector_case {
    case ENTITLE__V1__CUSTOMER_SELECTOR__SELECTOR_ACCOUNT_ID:
      self = .account(try Self.required(message.account_id, "account_id"))
    case ENTITLE__V1__CUSTOMER_SELECTOR__SELECTOR_ORIGINAL_TRANSACTION_ID:
      self = .originalTransaction(
        try Self.required(message.original_transaction_id, "original_transaction_id"))
    case ENTITLE__V1__CUSTOMER_SELECTOR__SELECTOR_TRANSACTION_ID:
      self = .transaction(try Self.required(message.transaction_id, "transaction_id"))
    case ENTITLE__V1__CUSTOMER_SELECTOR__SELECTOR_APP_TRANSACTION_ID:
      self = .appTransaction(try Self.required(message.app_transaction_id, "app_transaction_id"))
    case ENTITLE__V1__CUSTOMER_SELECTOR__SELECTOR_APP_ACCOUNT_TOKEN:
      let token: AppAccountToken = try Self.required(
        message.app_account_token, "app_account_token")
      // Tokens are kept in lower case; callers print UUIDs as they like.
      self = .appAccountToken(AppAccountToken(token.rawValue.lowercased()))
    default:
      throw Self.error(.missing(field: "selector"))
    }
  }

  func write(
    to message: inout Entitle__V1__CustomerSelector, in arena: MessageArena
  ) throws(MessageError) {
    switch self {
    case .account(let id):
      message.account_id = try Self.text(id, "account_id", in: arena)
      message.selector_case = ENTITLE__V1__CUSTOMER_SELECTOR__SELECTOR_ACCOUNT_ID
    case .originalTransaction(let id):
      message.original_transaction_id = try Self.text(id, "original_transaction_id", in: arena)
      message.selector_case = ENTITLE__V1__CUSTOMER_SELECTOR__SELECTOR_ORIGINAL_TRANSACTION_ID
    case .transaction(let id):
      message.transaction_id = try Self.text(id, "transaction_id", in: arena)
      message.selector_case = ENTITLE__V1__CUSTOMER_SELECTOR__SELECTOR_TRANSACTION_ID
    case .appTransaction(let id):
      message.app_transaction_id = try Self.text(id, "app_transaction_id", in: arena)
      message.selector_case = ENTITLE__V1__CUSTOMER_SELECTOR__SELECTOR_APP_TRANSACTION_ID
    case .appAccountToken(let token):
      message.app_account_token = try Self.text(token, "app_account_token", in: arena)
      message.selector_case = ENTITLE__V1__CUSTOMER_SELECTOR__SELECTOR_APP_ACCOUNT_TOKEN
    }
  }
}
