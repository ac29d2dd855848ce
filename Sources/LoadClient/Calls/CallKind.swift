/// What a call asks for.
package enum CallKind: Int, CaseIterable, Hashable, Sendable {
  /// GetCustomerState of a chosen customer: from the server's memory, if it is there.
  case hot
  /// GetCustomerState, fully consistent, of any customer: always from the store.
  case cold
  /// GetCustomerState of an account that nobody has, another one each time.
  case absent
  /// BatchGetCustomerState of chosen customers.
  case batch
  /// CheckEntitlement of a chosen customer.
  case check
  /// SubmitSignedTransactions: the first purchase of a new customer.
  case submit
  /// SubmitSignedTransactions: a chosen customer hands in everything again, as after a restore of
  /// purchases, and claims it.
  case claim
  /// SubmitNotification: of a purchase of a new customer.
  case notify

  var name: String { "\(self)" }

  /// Whether it needs signatures that the server trusts.
  var isSigned: Bool {
    switch self {
    case .hot, .cold, .absent, .batch, .check: false
    case .submit, .claim, .notify: true
    }
  }

  var method: String {
    switch self {
    case .hot, .cold, .absent: "GetCustomerState"
    case .batch: "BatchGetCustomerState"
    case .check: "CheckEntitlement"
    case .submit, .claim: "SubmitSignedTransactions"
    case .notify: "SubmitNotification"
    }
  }
}
