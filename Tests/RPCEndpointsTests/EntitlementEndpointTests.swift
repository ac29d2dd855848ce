import CatalogFiles
import EntitlementDomain
import EntitlementStore
import RPCClient
import ServiceSupport
import SQLiteStore
import StoreSimulator
import Testing
import Wire

@Suite("EntitlementService on the wire")
struct EntitlementEndpointTests {
  @Test("Every life cycle is answered as evaluated, from the store and from the cache")
  func everyLifeCycle() async throws {
    try await ServiceBench.run { bench async throws in
      let catalog = try CatalogFile.parse(SimulatedApp.catalogYAML).catalog
      for (index, lifeCycle) in ServiceBench.lifeCyclesWithFacts.enumerated() {
        let account = try await bench.submit(lifeCycle, seed: UInt64(index))
        let stored = try await bench.store.customer(.account(account), in: ServiceBench.scope)
        let expected = Evaluation.state(
          of: stored.record, catalog: catalog, at: ServiceBench.now)
        #expect(expected.coreState != .new)
        for _ in 0..<2 {
          #expect(try await bench.state(of: .account(account)) == .state(expected))
        }
      }
    }
  }

  @Test("A read from the store is one miss, and the next read a hit")
  func misses() async throws {
    try await ServiceBench.run { bench async throws in
      for _ in 0..<2 { _ = try await bench.state(of: .account("anna")) }
      let counters = try await bench.client.statistics().counters
      let values = Dictionary(uniqueKeysWithValues: counters.map { ($0.name, $0.value) })
      #expect(values["cache.misses"] == 1)
      #expect(values["cache.hits"] == 1)
    }
  }

  @Test("A customer without facts is NEW, not an error (R27)")
  func new() async throws {
    try await ServiceBench.run { bench async throws in
      let selectors: [CustomerSelector] = [
        .account("nobody"), .originalTransaction("1"), .transaction("1"), .appTransaction("1"),
        .appAccountToken("00000000-0000-0000-0000-000000000000"),
      ]
      for selector in selectors {
        guard case .state(let state) = try await bench.state(of: selector) else {
          Issue.record("no state for \(selector)")
          continue
        }
        #expect(state.coreState == .new)
        #expect(state.revision == 0)
      }
    }
  }

  @Test("The next read sees a write, whatever was cached before")
  func readYourWrites() async throws {
    try await ServiceBench.run { bench async throws in
      let events = try bench.signed(.renewals, seed: 1)
      var revision: Int64 = 0
      for event in events {
        let answer = try await bench.client.submitSignedTransactions(
          SubmitSignedTransactionsRequest(signedPayloads: event.facts, accountID: "anna"))
        let written = try #require(answer.customers.first?.revision)
        #expect(written > revision)
        revision = written
        #expect(try await bench.state(of: .account("anna")).revision == written)
      }
    }
  }

  @Test("A chain's answer follows its link")
  func chainIsLinked() async throws {
    try await ServiceBench.run { bench async throws in
      let facts = try bench.signed(.nonConsumable, seed: 3).flatMap(\.facts)
      let first = try await bench.client.submitSignedTransactions(
        SubmitSignedTransactionsRequest(signedPayloads: facts))
      let chain = try #require(first.results[0].originalTransactionID)
      guard case .state(let unlinked) = try await bench.state(of: .originalTransaction(chain))
      else { return }
      #expect(unlinked.accountID == nil)
      #expect(unlinked.coreState == .active)
      _ = try await bench.client.submitSignedTransactions(
        SubmitSignedTransactionsRequest(signedPayloads: facts, accountID: "anna"))
      guard case .state(let linked) = try await bench.state(of: .originalTransaction(chain))
      else { return }
      #expect(linked.accountID == "anna")
      #expect(linked.revision > unlinked.revision)
    }
  }

  @Test("Every revision that a submission returns can be read AT_LEAST_AS_FRESH")
  func returnedRevisions() async throws {
    try await ServiceBench.run { bench async throws in
      let facts = try bench.signed(.nonConsumable, seed: 3).flatMap(\.facts)
      for account: AccountID? in [nil, "anna"] {
        let answer = try await bench.client.submitSignedTransactions(
          SubmitSignedTransactionsRequest(signedPayloads: facts, accountID: account))
        #expect(answer.customers.count == (account == nil ? 1 : 2))
        for customer in answer.customers {
          let selector: CustomerSelector =
            switch customer.subject {
            case .account(let id): .account(id)
            case .unlinkedChain(let id): .originalTransaction(id)
            }
          let state = try await bench.client.customerState(
            GetCustomerStateRequest(
              customer: selector, scope: customer.scope,
              consistency: .atLeastAsFresh(revision: customer.revision)))
          #expect(state.revision >= customer.revision)
        }
      }
    }
  }

  @Test("NOT_MODIFIED is answered while the revision is current, and only then")
  func notModified() async throws {
    try await ServiceBench.run { bench async throws in
      let account = try await bench.submit(.firstPurchase)
      let revision = try await bench.state(of: .account(account)).revision
      // Time does not change the state here: the bench's clock stands still.
      #expect(
        try await bench.state(of: .account(account), ifRevisionDiffers: revision)
          == .notModified(revision: revision))
      guard
        case .state = try await bench.state(
          of: .account(account), ifRevisionDiffers: revision - 1)
      else {
        Issue.record("another revision than the caller's must bring the state")
        return
      }
    }
  }

  @Test("A batch equals the single answers, in the order of the request")
  func batch() async throws {
    try await ServiceBench.run { bench async throws in
      var selectors: [CustomerSelector] = [.account("nobody")]
      for lifeCycle in ServiceBench.lifeCyclesWithFacts.prefix(8) {
        selectors.append(.account(try await bench.submit(lifeCycle)))
      }
      selectors.append(selectors[3])
      let batch = try await bench.client.customerStates(
        BatchGetCustomerStateRequest(customers: selectors, scope: ServiceBench.scope))
      var singles: [GetCustomerStateResponse] = []
      for selector in selectors { singles.append(try await bench.state(of: selector)) }
      #expect(batch.results == singles)
    }
  }

  @Test("CheckEntitlement agrees with the state")
  func check() async throws {
    try await ServiceBench.run { bench async throws in
      for lifeCycle in ServiceBench.lifeCyclesWithFacts {
        let account = try await bench.submit(lifeCycle)
        guard case .state(let state) = try await bench.state(of: .account(account)) else {
          continue
        }
        for id: EntitlementID in ["basic", "pro", "season", "ad_free", "unheard_of"] {
          let check = try await bench.client.checkEntitlement(
            CheckEntitlementRequest(
              customer: .account(account), scope: ServiceBench.scope, entitlementID: id))
          let sources = state.entitlements.first { $0.entitlementID == id }?.sources ?? []
          #expect(check.isGranted == !sources.isEmpty)
          let isEndless = sources.contains { $0.until == nil }
          #expect(check.until == (isEndless ? nil : sources.compactMap(\.until).max()))
          #expect(check.nextTransitionAt == state.nextTransitionAt)
          #expect(check.revision == state.revision)
        }
      }
    }
  }

  @Test("The state at another time is computed from the current facts")
  func atMoment() async throws {
    try await ServiceBench.run { bench async throws in
      let account = try await bench.submit(.firstPurchase)
      guard case .state(let now) = try await bench.state(of: .account(account)),
        let end = now.nextTransitionAt
      else { return }
      let later = try await bench.client.customerState(
        GetCustomerStateRequest(customer: .account(account), scope: ServiceBench.scope, at: end))
      guard case .state(let state) = later else { return }
      #expect(now.coreState == .active)
      #expect(state.coreState == .inactive)
      #expect(state.evaluatedAt == end)
    }
  }

  @Test("A past moment is answered as it was signed by then, or as it is known now (R54)")
  func knowledge() async throws {
    try await ServiceBench.run { bench async throws in
      // The refund counts from an hour before it was signed.
      let account = try await bench.submit(.refunded)
      let customer = CustomerSelector.account(account)
      guard case .state(let now) = try await bench.state(of: customer),
        let refundedAt = now.groups.first?.standing.revocation?.date
      else {
        Issue.record("the refund is not known")
        return
      }
      let between = refundedAt.advanced(by: Milliseconds.hourLength / 2)
      for (knowledge, core): (Knowledge, CoreState) in [
        (.signedByThen, .active), (.now, .inactive),
      ] {
        let one = try await bench.client.customerState(
          GetCustomerStateRequest(
            customer: customer, scope: ServiceBench.scope, at: between, knowledge: knowledge))
        guard case .state(let state) = one else { return }
        #expect(state.coreState == core)
        #expect(state.evaluatedAt == between)
        let batch = try await bench.client.customerStates(
          BatchGetCustomerStateRequest(
            customers: [customer, customer], scope: ServiceBench.scope, at: between,
            knowledge: knowledge))
        #expect(batch.results == [one, one])
        let check = try await bench.client.checkEntitlement(
          CheckEntitlementRequest(
            customer: customer, scope: ServiceBench.scope, entitlementID: "basic", at: between,
            knowledge: knowledge))
        #expect(check.isGranted == (core == .active))
        let explained = try await bench.client.explain(
          ExplainCustomerStateRequest(
            customer: customer, scope: ServiceBench.scope, at: between, knowledge: knowledge))
        #expect(explained.explanation.state.coreState == core)
      }
    }
  }

  @Test("Customers are listed in pages, each once")
  func pages() async throws {
    try await ServiceBench.run { bench async throws in
      for lifeCycle in ServiceBench.lifeCyclesWithFacts { try await bench.submit(lifeCycle) }
      var listed: [AccountID?] = []
      for try await state in bench.client.customers(in: ServiceBench.scope, pageSize: 5) {
        listed.append(state.accountID)
      }
      #expect(listed == ServiceBench.lifeCyclesWithFacts.map { AccountID($0.rawValue) }.sorted())
    }
  }
}
