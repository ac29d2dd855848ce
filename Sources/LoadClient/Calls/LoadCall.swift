import EntitlementDomain
import NIOCore
import RPCClient
import Wire

/// One call, with its expected answer.
struct LoadCall: Sendable {
  enum Expectation: Hashable, Sendable {
    /// The state of the customer with this index.
    case state(Int)
    case unknownAccount(AccountID)
    case states([Int])
    case entitlement(EntitlementID, Int)
    /// All payloads are accepted, for the customer with this index.
    case accepted(Int, payloads: Int)
    /// All payloads are known, and belong to the customer with this index.
    case known(Int, payloads: Int)
    /// The notification and its contents are accepted, for the customer with this index.
    case notified(Int)
  }

  let kind: CallKind
  let request: RPCRequest
  let expectation: Expectation

  init<Request, Response>(
    _ kind: CallKind, _ method: WireMethod<Request, Response>, _ message: Request,
    expecting expectation: Expectation, timeout: Duration
  ) {
    guard let payload = try? message.encoded() else {
      // Our own identifiers contain no NUL, and our own messages are small.
      preconditionFailure("a request that cannot be encoded")
    }
    self.kind = kind
    self.expectation = expectation
    request = RPCRequest(
      service: method.service, method: method.name, payload: payload, timeout: timeout)
  }
}

/// A kind of call.
package enum CallKind: Int, CaseIterable, Hashable, Sendable {
  /// GetCustomerState of a chosen customer: from the server's cache, if it is there.
  case hot
  /// GetCustomerState, fully consistent, of any customer: always from the store.
  case cold
  /// GetCustomerState of an unknown account, another one each time.
  case absent
  /// BatchGetCustomerState of chosen customers.
  case batch
  /// CheckEntitlement of a chosen customer.
  case check
  /// SubmitSignedTransactions: the first purchase of a new customer.
  case submit
  /// SubmitSignedTransactions: a chosen customer submits all its payloads again, as after a restore
  /// of purchases, and claims them.
  case claim
  /// SubmitNotification: a purchase of a new customer.
  case notify

  var name: String { "\(self)" }

  /// Whether the call needs payloads that an authority trusted by the server signed.
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
