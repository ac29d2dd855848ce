import EntitlementDomain
import EntitlementService
import EntitlementStore
import SQLiteStore
import StoreSimulator
import Testing

@Suite("Explicit link changes (R46)")
struct LinkServiceTests {
  private static let audit = ChangeAudit(
    onBehalfOf: "ops@example.com", reason: "a support case", caller: .server)
  private static let chain = LinkTarget.chain("1")

  private func run(
    owner: AccountID? = "anna", _ body: (ServiceBench) async throws -> Void
  ) async throws {
    try await ServiceBench.run { bench async throws in
      _ = try await bench.submit([try bench.purchase()], account: owner)
      try await body(bench)
    }
  }

  private func code(of error: ServiceError?) -> ServiceError.Code? { error?.code }

  @Test("An unlinked chain is linked; every reader sees it at once, and repeats change nothing")
  func link() async throws {
    try await run(owner: nil) { bench async throws in
      #expect(try await bench.state(of: "anna").coreState == .new)
      let chain = CustomerQuery(selector: .originalTransaction("1"), scope: ServiceBench.scope)
      #expect(try await bench.reader.answer(to: chain).state.accountID == nil)
      let receipt = try await bench.links.link(
        Self.chain, to: "anna", in: ServiceBench.scope, Self.audit)
      #expect(receipt.isChanged)
      #expect(receipt.targets == [Self.chain])
      #expect(try await bench.state(of: "anna").coreState == .active)
      #expect(try await bench.reader.answer(to: chain).state.accountID == "anna")
      let again = try await bench.links.link(
        Self.chain, to: "anna", in: ServiceBench.scope, Self.audit)
      #expect(!again.isChanged)
      #expect(bench.counters[.linkChange(.linked)] == 1)
      #expect(
        try await bench.links.links(of: "anna", in: ServiceBench.scope).map(\.target)
          == [Self.chain])
      let history = try await bench.links.history(of: Self.chain, in: ServiceBench.scope)
      #expect(history.map(\.event.reason) == [.assigned])
      #expect(history.map(\.event.author?.name) == ["server"])
      #expect(history.map(\.event.onBehalfOf) == ["ops@example.com"])
      #expect(history.map(\.event.note) == ["a support case"])
      #expect(try await bench.links.history(of: "anna", in: ServiceBench.scope) == history)
    }
  }

  @Test("An unlinked chain has no account for every reader")
  func unlink() async throws {
    try await run { bench async throws in
      #expect(try await bench.state(of: "anna").coreState == .active)
      let chain = CustomerQuery(selector: .originalTransaction("1"), scope: ServiceBench.scope)
      #expect(try await bench.reader.answer(to: chain).state.accountID == "anna")
      _ = try await bench.links.unlink(Self.chain, in: ServiceBench.scope, Self.audit)
      #expect(try await bench.state(of: "anna").coreState == .new)
      #expect(try await bench.reader.answer(to: chain).state.accountID == nil)
      let found = try await bench.links.resolve(
        .originalTransaction("1"), in: ServiceBench.scope)
      #expect(found.subject == .unlinkedChain(ServiceBench.scope, "1"))
    }
  }

  @Test("A transfer is visible for both accounts, and does not name an owner of another account")
  func transfer() async throws {
    try await run { bench async throws in
      let wrong = await #expect(throws: ServiceError.self) {
        try await bench.links.transfer(
          Self.chain, from: "carl", to: "bert", in: ServiceBench.scope, Self.audit)
      }
      #expect(wrong?.code == .failedPrecondition)
      #expect(wrong?.message.contains("anna") == false)
      #expect(try await bench.state(of: "anna").coreState == .active)
      #expect(try await bench.state(of: "bert").coreState == .new)
      _ = try await bench.links.transfer(
        Self.chain, from: "anna", to: "bert", in: ServiceBench.scope, Self.audit)
      #expect(try await bench.state(of: "anna").coreState == .new)
      #expect(try await bench.state(of: "bert").coreState == .active)
      let taken = await #expect(throws: ServiceError.self) {
        try await bench.links.link(Self.chain, to: "carl", in: ServiceBench.scope, Self.audit)
      }
      #expect(taken?.code == .alreadyExists)
      #expect(taken?.message.contains("bert") == false)
    }
  }

  @Test("A merged account is answered as the one that it was merged into, under all aliases")
  func merge() async throws {
    try await run { bench async throws in
      let anna = try await bench.state(of: "anna")
      #expect(try await bench.state(of: "bert").coreState == .new)
      let receipt = try await bench.links.merge(
        "anna", into: "bert", in: ServiceBench.scope, Self.audit)
      #expect(receipt.isChanged)
      for name: AccountID in ["anna", "bert"] {
        let state = try await bench.state(of: name)
        #expect(state.accountID == "bert")
        #expect(state.coreState == .active)
        #expect(state.revision > anna.revision)
        #expect(
          bench.reader.cachedAnswer(
            to: CustomerQuery(selector: .account(name), scope: ServiceBench.scope)) != nil)
      }
      // A change of the account is visible under its alias, and a later merge under all aliases.
      _ = try await bench.links.unlink(Self.chain, in: ServiceBench.scope, Self.audit)
      for name: AccountID in ["anna", "bert"] {
        #expect(try await bench.state(of: name).coreState == .new)
      }
      _ = try await bench.links.link(
        Self.chain, to: "anna", in: ServiceBench.scope, Self.audit)
      #expect(try await bench.state(of: "bert").coreState == .active)
      #expect(try await bench.state(of: "anna").coreState == .active)
      _ = try await bench.links.merge("bert", into: "carl", in: ServiceBench.scope, Self.audit)
      for name: AccountID in ["anna", "bert", "carl"] {
        #expect(try await bench.state(of: name).accountID == "carl")
      }
      let again = try await bench.links.merge(
        "anna", into: "carl", in: ServiceBench.scope, Self.audit)
      #expect(!again.isChanged)
      let same = await #expect(throws: ServiceError.self) {
        try await bench.links.merge(
          "carl", into: "anna", in: ServiceBench.scope, Self.audit)
      }
      #expect(same?.code == .invalidArgument(field: "into_account_id"))
      // The aliases are deleted with the account.
      _ = try await bench.records.delete("anna", in: ServiceBench.scope, Self.audit)
      for name: AccountID in ["anna", "bert", "carl"] {
        let state = try await bench.state(of: name)
        #expect(state.coreState == .new)
        #expect(state.accountID == name)
      }
    }
  }

  @Test("On another node, too, no alias of a merged account serves the old answer")
  func mergeOnOtherNode() async throws {
    try await run { bench async throws in
      try await Node.run(bench) { node async throws in
        for name: AccountID in ["anna", "bert"] { try await node.state(of: name) }
        #expect(node.isCached("anna"))
        let receipt = try await bench.links.merge(
          "anna", into: "bert", in: ServiceBench.scope, Self.audit)
        try await node.followed(to: receipt.customers.map(\.revision).max() ?? 0)
        for name: AccountID in ["anna", "bert"] {
          #expect(!node.isCached(name))
          #expect(try await node.state(of: name).accountID == "bert")
          #expect(node.isCached(name))
        }
        // A change of the account invalidates the answer that is cached under its alias.
        try await node.followed(to: try await node.grant(to: "bert"))
        #expect(!node.isCached("anna"))
        #expect(try await node.state(of: "anna").entitlements.count == 2)
        let deleted = try await bench.records.delete("bert", in: ServiceBench.scope, Self.audit)
        try await node.followed(to: deleted.customers.map(\.revision).max() ?? 0)
        #expect(!node.isCached("anna"))
        #expect(try await node.state(of: "anna").coreState == .new)
      }
    }
  }

  @Test("The cached answer of an unlinked chain is invalidated on another node after a link")
  func claimedOnOtherNode() async throws {
    try await run(owner: nil) { bench async throws in
      try await Node.run(bench) { node async throws in
        let query = CustomerQuery(selector: .originalTransaction("1"), scope: ServiceBench.scope)
        #expect(try await node.reader.answer(to: query).state.accountID == nil)
        #expect(node.reader.cachedAnswer(to: query) != nil)
        let claim = try await bench.submit([try bench.purchase()], account: "anna")
        try await node.followed(to: claim.customers.map(\.revision).max() ?? 0)
        #expect(node.reader.cachedAnswer(to: query) == nil)
        #expect(try await node.reader.answer(to: query).state.accountID == "anna")
      }
    }
  }

  @Test("Unknown targets, and text that is empty or too long, are refused with the field")
  func refused() async throws {
    try await run { bench async throws in
      let scope = ServiceBench.scope
      let audit = Self.audit
      let long = String(repeating: "x", count: 257)
      let tooLong = String(repeating: "x", count: 1_025)
      let elsewhere = AppScope(bundleID: "com.example.other", environment: .production)
      typealias Case = (
        code: ServiceError.Code, call: (LinkService) async throws(ServiceError) -> LinkReceipt
      )
      let cases: [Case] = [
        (
          .notFound,
          { links async throws(ServiceError) in
            try await links.link(.chain("9"), to: "anna", in: scope, audit)
          }
        ),
        (
          .notFound,
          { links async throws(ServiceError) in
            try await links.unlink(.appTransaction("9"), in: scope, audit)
          }
        ),
        (
          .notFound,
          { links async throws(ServiceError) in
            try await links.merge("nobody", into: "anna", in: scope, audit)
          }
        ),
        (
          .invalidArgument(field: "into_account_id"),
          { links async throws(ServiceError) in
            try await links.merge("anna", into: "anna", in: scope, audit)
          }
        ),
        (
          .invalidArgument(field: "to_account_id"),
          { links async throws(ServiceError) in
            try await links.transfer(Self.chain, from: "anna", to: "anna", in: scope, audit)
          }
        ),
        (
          .invalidArgument(field: "bundle_id"),
          { links async throws(ServiceError) in
            try await links.unlink(Self.chain, in: elsewhere, audit)
          }
        ),
        (
          .invalidArgument(field: "reason"),
          { links async throws(ServiceError) in
            try await links.unlink(
              Self.chain, in: scope, ChangeAudit(onBehalfOf: "a", reason: "", caller: .server))
          }
        ),
        (
          .invalidArgument(field: "reason"),
          { links async throws(ServiceError) in
            try await links.unlink(
              Self.chain, in: scope, ChangeAudit(onBehalfOf: "a", reason: tooLong, caller: .server))
          }
        ),
        (
          .invalidArgument(field: "on_behalf_of"),
          { links async throws(ServiceError) in
            try await links.unlink(
              Self.chain, in: scope, ChangeAudit(onBehalfOf: "", reason: "r", caller: .server))
          }
        ),
        (
          .invalidArgument(field: "on_behalf_of"),
          { links async throws(ServiceError) in
            try await links.unlink(
              Self.chain, in: scope, ChangeAudit(onBehalfOf: "a\u{0}", reason: "r", caller: .server)
            )
          }
        ),
        (
          .invalidArgument(field: "account_id"),
          { links async throws(ServiceError) in
            try await links.link(Self.chain, to: AccountID(long), in: scope, audit)
          }
        ),
        (
          .invalidArgument(field: "target"),
          { links async throws(ServiceError) in
            try await links.unlink(
              .chain(OriginalTransactionID("")), in: scope, audit)
          }
        ),
      ]
      let end = try await bench.store.feedEnd()
      for (index, entry) in cases.enumerated() {
        do {
          _ = try await entry.call(bench.links)
          Issue.record("case \(index) was not refused")
        } catch let error as ServiceError {
          #expect(error.code == entry.code, "case \(index)")
        }
      }
      #expect(try await bench.store.feedEnd() == end)
      #expect(try await bench.state(of: "anna").coreState == .active)
    }
  }
}
