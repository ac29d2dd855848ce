import EntitlementDomain
import NIOCore
import RPCClient
import Wire

/// One call: what is sent, and what must be answered.
struct LoadCall: Sendable {
  enum Expectation: Hashable, Sendable {
    /// The state of the customer with this index.
    case state(Int)
    case stranger(AccountID)
    case states([Int])
    case entitlement(EntitlementID, Int)
    /// All payloads accepted, for this customer.
    case accepted(Int, payloads: Int)
    /// All payloads known, and owned by this customer.
    case known(Int, payloads: Int)
    /// The notification accepted, with what is in it.
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
      // Our own identifiers hold no NUL, and our own messages are small.
      preconditionFailure("a request that cannot be encoded")
    }
    self.kind = kind
    self.expectation = expectation
    request = RPCRequest(
      service: method.service, method: method.name, payload: payload, timeout: timeout)
  }
}
