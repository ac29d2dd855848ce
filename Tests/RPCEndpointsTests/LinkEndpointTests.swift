import EntitlementDomain
import RPCClient
import ServiceSupport
import StoreSimulator
import Testing
import Wire

@Suite("LinkService on the wire", .timeLimit(.minutes(1)))
struct LinkEndpointTests {
  private static let scope = ServiceBench.scope

  /// An unlinked purchase, and its chain.
  private func unlinkedChain(_ bench: ServiceBench) async throws -> LinkTarget {
    let facts = try bench.signed(.nonConsumable, seed: 1).flatMap(\.facts)
    let answer = try await bench.client.submitSignedTransactions(
      SubmitSignedTransactionsRequest(signedPayloads: facts))
    let chain = try #require(answer.results.compactMap(\.originalTransactionID).first)
    return .chain(chain)
  }

  @Test("A purchase is linked, transferred, merged and unlinked, and each step is in the history")
  func steps() async throws {
    try await ServiceBench.run { bench async throws in
      let target = try await unlinkedChain(bench)
      guard case .chain(let chain) = target else { return }
      let resolve = ResolveAccountRequest(
        customer: .originalTransaction(chain), scope: Self.scope)
      #expect(try await bench.client.resolveAccount(resolve).subject == .unlinkedChain(chain))
      let chains = try await bench.client.listUnlinkedChains(
        ListUnlinkedChainsRequest(scope: Self.scope))
      #expect(chains.chains.map(\.originalTransactionID) == [chain])
      #expect(chains.nextPageToken == nil)

      let linked = try await bench.client.linkAccount(
        LinkAccountRequest(
          scope: Self.scope, target: target, accountID: "anna", reason: "r1", onBehalfOf: "ops"))
      #expect(linked.isChanged)
      // The app transaction of the same Apple account is transferred too.
      #expect(linked.targets.first == target)
      #expect(linked.customers.contains { $0.subject == .account("anna") })
      let again = try await bench.client.linkAccount(
        LinkAccountRequest(
          scope: Self.scope, target: target, accountID: "anna", reason: "r1", onBehalfOf: "ops"))
      #expect(!again.isChanged)
      #expect(try await bench.client.resolveAccount(resolve).subject == .account("anna"))

      _ = try await bench.client.transferPurchase(
        TransferPurchaseRequest(
          scope: Self.scope, target: target, fromAccountID: "anna", toAccountID: "bert",
          reason: "r2", onBehalfOf: "ops"))
      _ = try await bench.client.mergeAccounts(
        MergeAccountsRequest(
          scope: Self.scope, fromAccountID: "bert", intoAccountID: "carl", reason: "r3",
          onBehalfOf: "ops"))
      let links = try await bench.client.links(
        ListLinksRequest(scope: Self.scope, accountID: "carl"))
      #expect(links.links.contains { $0.target == target && $0.reason == .merged })
      guard case .state(let state) = try await bench.state(of: .account("bert")) else { return }
      #expect(state.accountID == "carl")
      let unlinked = try await bench.client.unlinkAccount(
        UnlinkAccountRequest(scope: Self.scope, target: target, reason: "r4", onBehalfOf: "ops"))
      #expect(unlinked.isChanged)

      let history = try await bench.client.linkHistory(
        GetLinkHistoryRequest(scope: Self.scope, subject: .target(target)))
      #expect(history.events.map(\.reason) == [.assigned, .transferred, .merged, .unassigned])
      #expect(history.events.map(\.note) == ["r1", "r2", "r3", "r4"])
      #expect(history.events.map(\.toAccountID) == ["anna", "bert", "carl", nil])
      let ofAnna = try await bench.client.linkHistory(
        GetLinkHistoryRequest(scope: Self.scope, subject: .account("anna")))
      #expect(
        ofAnna.events.filter { $0.target == target }.map(\.reason) == [.assigned, .transferred])
    }
  }

  @Test(
    "A submission is the author of what it links and claims, and a refused claim is told (R46, R91)"
  )
  func submissions() async throws {
    try await ServiceBench.run { bench async throws in
      let facts = try bench.signed(.nonConsumable, seed: 1).flatMap(\.facts)
      var chain: OriginalTransactionID?
      for account: AccountID in ["anna", "bert"] {
        let answer = try await bench.client.submitSignedTransactions(
          SubmitSignedTransactionsRequest(signedPayloads: facts, accountID: account))
        chain = answer.results.compactMap(\.originalTransactionID).first
      }
      let target = LinkTarget.chain(try #require(chain))
      let history = try await bench.client.linkHistory(
        GetLinkHistoryRequest(scope: Self.scope, subject: .target(target)))
      #expect(history.events.map(\.reason) == [.named, .claimed])
      #expect(history.events.map(\.author) == ["local", "local"])
      for number in 1...9 {
        _ = try await bench.client.submitSignedTransactions(
          SubmitSignedTransactionsRequest(
            signedPayloads: facts, accountID: AccountID("thief-\(number)")))
      }
      for subject: GetLinkHistoryRequest.Subject in [.target(target), .account("thief-9")] {
        let last = try await bench.client.linkHistory(
          GetLinkHistoryRequest(scope: Self.scope, subject: subject)
        ).events.last { $0.target == target }
        #expect(last?.reason == .refused)
        #expect(last?.toAccountID == "thief-9")
        #expect(last?.author == "local")
      }
    }
  }

  @Test("A token is bound and listed, and its waiting purchase is linked (R71)")
  func tokens() async throws {
    try await ServiceBench.run { bench async throws in
      func bind(_ token: AppAccountToken, _ account: AccountID?) -> BindAccountTokenRequest {
        BindAccountTokenRequest(
          scope: Self.scope, appAccountToken: token, accountID: account, reason: "r",
          onBehalfOf: "ops")
      }
      let list = ListAccountTokensRequest(scope: Self.scope, accountID: "anna", pageSize: 1)
      let bound = try await bench.client.bindAccountToken(
        bind("AAAAAAAA-0000-4000-8000-000000000001", "anna"))
      #expect(bound.isChanged)
      let page = try await bench.client.accountTokens(list)
      #expect(page.tokens.map(\.appAccountToken) == ["aaaaaaaa-0000-4000-8000-000000000001"])
      #expect(page.tokens.map(\.state) == [.bound])
      #expect(page.tokens.map(\.author) == ["local"])
      #expect(page.tokens.map(\.onBehalfOf) == ["ops"])
      let resolve = ResolveAccountRequest(
        customer: .appAccountToken("aaaaaaaa-0000-4000-8000-000000000001"), scope: Self.scope)
      #expect(try await bench.client.resolveAccount(resolve).subject == .account("anna"))
      let ambiguous = try await bench.client.accountTokens(
        ListAccountTokensRequest(scope: Self.scope))
      #expect(ambiguous.tokens == [])
      _ = try await bench.client.bindAccountToken(
        bind("aaaaaaaa-0000-4000-8000-000000000001", nil))
      #expect(try await bench.client.accountTokens(list).tokens == [])
      await #expect(throws: RPCClientError.self) {
        try await bench.client.bindAccountToken(bind("no token", "anna"))
      }
      // Apps send it when they set none (R43). What was stored of it can be forgotten.
      let zeros: AppAccountToken = "00000000-0000-0000-0000-000000000000"
      let refused = await #expect(throws: RPCClientError.self) {
        try await bench.client.bindAccountToken(bind(zeros, "anna"))
      }
      #expect(refused?.code == .status(.invalidArgument))
      #expect(refused?.fieldViolations.map(\.field) == ["app_account_token"])
      #expect(try await bench.client.bindAccountToken(bind(zeros, nil)).isChanged == false)
    }
  }

  @Test("Each refusal has its own code, and names no owner")
  func refused() async throws {
    try await ServiceBench.run { bench async throws in
      let target = try await unlinkedChain(bench)
      _ = try await bench.client.linkAccount(
        LinkAccountRequest(
          scope: Self.scope, target: target, accountID: "the-owner", reason: "r", onBehalfOf: "a"))
      let taken = await #expect(throws: RPCClientError.self) {
        try await bench.client.linkAccount(
          LinkAccountRequest(
            scope: Self.scope, target: target, accountID: "anna", reason: "r", onBehalfOf: "a"))
      }
      #expect(taken?.code == .status(.alreadyExists))
      let wrong = await #expect(throws: RPCClientError.self) {
        try await bench.client.transferPurchase(
          TransferPurchaseRequest(
            scope: Self.scope, target: target, fromAccountID: "anna", toAccountID: "bert",
            reason: "r", onBehalfOf: "a"))
      }
      #expect(wrong?.code == .status(.failedPrecondition))
      let unknown = await #expect(throws: RPCClientError.self) {
        try await bench.client.unlinkAccount(
          UnlinkAccountRequest(
            scope: Self.scope, target: .chain("none"), reason: "r", onBehalfOf: "a"))
      }
      #expect(unknown?.code == .status(.notFound))
      let same = await #expect(throws: RPCClientError.self) {
        try await bench.client.mergeAccounts(
          MergeAccountsRequest(
            scope: Self.scope, fromAccountID: "the-owner", intoAccountID: "the-owner",
            reason: "r", onBehalfOf: "a"))
      }
      #expect(same?.code == .status(.invalidArgument))
      #expect(same?.fieldViolations.map(\.field) == ["into_account_id"])
      for error in [taken, wrong, unknown] {
        #expect(error?.message.contains("the-owner") == false)
      }
    }
  }
}
