// The examples of the documentation, as a caller compiles them: with nothing but the library.
import RPCClient

// README.md
func isPro(_ account: AccountID, with client: EntitlementClient) async throws -> Bool {
  let scope = AppScope(bundleID: "com.example.scribe", environment: .production)
  let answer = try await client.checkEntitlement(
    CheckEntitlementRequest(customer: .account(account), scope: scope, entitlementID: "pro"))
  return answer.isGranted
}

// deploy/docs/client.md
func mayUse(_ entitlement: String, account: String) async throws -> Bool {
  let client = EntitlementClient(try ServerAddress(parsing: "127.0.0.1:7100"))
  let answer = try await client.checkEntitlement(
    CheckEntitlementRequest(
      customer: .account(AccountID(account)),
      scope: AppScope(bundleID: "com.example.scribe", environment: .production),
      entitlementID: EntitlementID(entitlement)))
  await client.close()
  return answer.isGranted
}

// Sources/RPCClient/RPCClient.docc
func makeClient() throws -> EntitlementClient {
  var configuration = EntitlementClientConfiguration()
  configuration.timeout = .seconds(2)
  return EntitlementClient(
    [
      try ServerAddress(parsing: "entitle-1.example.com:7100"),
      try ServerAddress(parsing: "entitle-2.example.com:7100"),
    ],
    configuration: configuration)
}

func submit(
  _ payloads: [String], of account: AccountID, with client: EntitlementClient
) async throws -> Int64? {
  let response = try await client.submitSignedTransactions(
    SubmitSignedTransactionsRequest(
      signedPayloads: payloads, bundleID: "com.example.scribe", accountID: account))
  for (index, result) in response.results.enumerated() where result.verdict != .ok {
    print("payload \(index) was refused: \(result.verdict) \(result.detail ?? "")")
  }
  return response.customers.first { $0.subject == .account(account) }?.revision
}

func mayUse(
  _ entitlement: EntitlementID, account: AccountID, with client: EntitlementClient
) async throws -> Bool {
  let scope = AppScope(bundleID: "com.example.scribe", environment: .production)
  let answer = try await client.checkEntitlement(
    CheckEntitlementRequest(
      customer: .account(account), scope: scope, entitlementID: entitlement))
  return answer.isGranted
}

func entitlements(
  of account: AccountID, since revision: Int64, with client: EntitlementClient
) async throws -> [EntitlementID] {
  let scope = AppScope(bundleID: "com.example.scribe", environment: .production)
  let response = try await client.customerState(
    GetCustomerStateRequest(
      customer: .account(account), scope: scope,
      consistency: .atLeastAsFresh(revision: revision)))
  guard case .state(let state) = response else { return [] }
  return state.entitlements.map(\.entitlementID)
}

func activeAccounts(
  in scope: AppScope, with client: EntitlementClient
) async throws -> [AccountID] {
  var accounts: [AccountID] = []
  for try await customer in client.customers(in: scope) where customer.coreState == .active {
    if let account = customer.accountID { accounts.append(account) }
  }
  return accounts
}

func watch(
  from stored: String?, with client: EntitlementClient,
  handle: (CustomerChange) async throws -> Void, store: (String) async throws -> Void
) async throws {
  var cursor = stored ?? WatchCustomerStatesRequest.beginning
  while true {
    do {
      let request = WatchCustomerStatesRequest(cursor: cursor, bundleID: "com.example.scribe")
      for try await response in try client.watchCustomerStates(request) {
        if let change = response.change { try await handle(change) }
        cursor = response.cursor
        try await store(cursor)
      }
    } catch let error as CustomerWatchError where error.isTransient {
      try await Task.sleep(for: max(error.cause.retryDelay ?? .zero, .seconds(1)))
    }
  }
}

enum Access {
  case granted
  case denied
  /// The service gave no answer. Use the last known state.
  case unknown
}

func access(
  to entitlement: EntitlementID, of account: AccountID, with client: EntitlementClient
) async throws(RPCClientError) -> Access {
  let scope = AppScope(bundleID: "com.example.scribe", environment: .production)
  let request = CheckEntitlementRequest(
    customer: .account(account), scope: scope, entitlementID: entitlement)
  do throws(RPCClientError) {
    return try await client.checkEntitlement(request).isGranted ? .granted : .denied
  } catch {
    switch error.code {
    case .unreachable, .connectionClosed, .status(.unavailable), .status(.deadlineExceeded),
      .status(.resourceExhausted):
      return .unknown
    case .clientClosed, .status:
      throw error
    }
  }
}
