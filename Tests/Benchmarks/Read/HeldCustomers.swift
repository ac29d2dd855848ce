import EntitlementDomain
import Framing
import LoadClient
import NIOCore
import RPCClient
import StoreSimulator
import Wire

/// The customers of the requests: customers of the simulated App Store whose answers are valid for
/// at least a day.
struct HeldCustomers {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  enum Kind: CaseIterable {
    /// Has a purchase of three months: an answer of about 320 bytes, like the bare echo's.
    case seasonPass
    /// Has a subscription: an answer of about 520 bytes.
    case subscriber

    fileprivate var lifeCycle: LifeCycle {
      switch self {
      case .seasonPass: .nonRenewing
      case .subscriber: .renewals
      }
    }
  }

  /// The number of customers of each kind.
  static let count = 256
  private static let seed: UInt64 = 1
  /// Concurrent submissions, so that they share commits.
  private static let inFlight = 16

  let authority: SigningAuthority
  private let customers: BulkCustomers

  /// - Parameter now: the date up to which the App Store has signed.
  init(now: Milliseconds) throws {
    authority = try SigningAuthority.generate()
    customers = try BulkCustomers(
      count: LifeCycle.allCases.count * Self.count, seed: Self.seed, now: now)
  }

  func selectors(of kind: Kind) -> [CustomerSelector] {
    indices(of: kind).map { .account(BulkCustomers.account(at: $0)) }
  }

  /// The life cycles alternate among the customers.
  private func indices(of kind: Kind) -> [Int] {
    let cycles = LifeCycle.allCases
    // The life cycle is in the list.
    let first = cycles.firstIndex(of: kind.lifeCycle)!
    return (0..<Self.count).map { first + $0 * cycles.count }
  }

  /// Submits them to a server that trusts ``authority`` and reads each one, so that the server
  /// caches their answers.
  func submit(through client: EntitlementClient) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (number, index) in Kind.allCases.flatMap(indices).enumerated() {
        if number >= Self.inFlight { try await group.next() }
        group.addTask { try await submit(index, through: client) }
      }
      try await group.waitForAll()
    }
    for selector in Kind.allCases.flatMap(selectors) {
      let answer = try await client.customerState(
        GetCustomerStateRequest(customer: selector, scope: BulkCustomers.scope))
      try Self.check(answer)
    }
  }

  private func submit(_ index: Int, through client: EntitlementClient) async throws {
    let payloads = try customers.payloads(at: index).map {
      try authority.sign(payloadJSON: $0.json)
    }
    let answer = try await client.submitSignedTransactions(
      SubmitSignedTransactionsRequest(
        signedPayloads: payloads, bundleID: SimulatedApp.bundleID,
        accountID: BulkCustomers.account(at: index)))
    guard answer.results.allSatisfy({ $0.verdict == .ok }) else {
      throw Failure(description: "the server refused a customer of the simulated App Store")
    }
  }

  /// Checks that the customer has an active entitlement.
  static func check(_ answer: GetCustomerStateResponse) throws {
    guard case .state(let state) = answer, state.revision > 0, state.coreState == .active,
      !state.entitlements.isEmpty
    else { throw Failure(description: "an answer lacks the purchase of the customer") }
  }

  /// - Parameter data: the data of a response frame.
  static func check(answer data: [UInt8]) throws {
    let envelope = try ResponseEnvelope(decoding: ByteBuffer(bytes: data))
    guard envelope.status == nil else { throw Failure(description: "an answer is an error") }
    try check(try GetCustomerStateResponse.decode(from: envelope.payload))
  }
}
