import EntitlementDomain
import EntitlementService
import EntitlementStore
import Logging
import SQLiteStore
import StoreSimulator
import Synchronization
import Testing
import Verification

@Suite("Importing archived responses of verifyReceipt")
struct ArchiveImportTests {
  private typealias Bench = ServiceBench

  static let catalog = SimulatedApp.catalogYAML.replacing(
    "    environments: [Production, Sandbox]",
    with: "    environments: [Production, Sandbox]\n    archived_responses: accept")

  @Test("An import is refused unless the catalog accepts archived responses")
  func permission() async throws {
    try await Bench.run { bench async throws in
      for response in [Bench.receipt(["1"]).archivedResponse(), Array("garbage".utf8)] {
        let error = await #expect(throws: ServiceError.self) {
          try await bench.service.importArchive(
            ArchiveSubmission(
              response: response, bundleID: SimulatedApp.bundleID, accountID: "anna"))
        }
        #expect(error?.code == .archivesNotAccepted)
      }
      #expect(try await bench.changeCount() == 0)
      bench.file.set(Self.catalog)
      #expect(await bench.reloader.reload().isValid)
      let result = try await bench.importArchive(Bench.receipt(["1"]), account: "anna")
      #expect(result.verdict == .ok)
      #expect(result.items.map(\.verdict) == [.ok, .ok])
      #expect(result.items.map(\.link) == [.linked, .linked])
      #expect(try await bench.sources(of: "anna").map(\.evidence) == [.archivedResponse])
      #expect(bench.counters[.archiveAccepted] == 1)
      #expect(bench.counters[.receiptAccepted] == 0)
      let imports = bench.log.lines(at: .notice).filter {
        $0.message == "imported an archived response"
      }
      #expect(imports.map(\.metadata["facts"]) == ["2"])
    }
  }

  @Test("It never replaces signed facts, and signed facts replace it (R51)")
  func precedence() async throws {
    try await Bench.run(catalog: Self.catalog) { bench async throws in
      let archive = Bench.receipt(["1", "2", "3"], daysAgo: 0)
      _ = try await bench.submit([try bench.purchase("1")], account: "anna")
      _ = try await bench.submit(receipt: Bench.receipt(["2"], daysAgo: 5), account: "anna")
      let imported = try await bench.importArchive(archive, account: "anna")
      #expect(imported.items.dropFirst().map(\.disposition) == [.superseded, .superseded, .added])
      #expect(
        try await authorities(bench) == [
          "1": .signedTransaction, "2": .receipt, "3": .archivedResponse,
        ])
      // A receipt that is much older than the response.
      let receipt = try await bench.submit(receipt: Bench.receipt(["3"], daysAgo: 6))
      #expect(receipt.items.last?.disposition == .replaced)
      let jws = try await bench.submit([try bench.purchase("2"), try bench.purchase("3")])
      #expect(jws.items.map(\.disposition) == [.replaced, .replaced])
      _ = try await bench.importArchive(archive, account: "anna")
      #expect(
        try await authorities(bench) == [
          "1": .signedTransaction, "2": .signedTransaction, "3": .signedTransaction,
        ])
    }
  }

  private func authorities(_ bench: ServiceBench) async throws -> [String: FactAuthority] {
    let record = try await bench.store.customer(.account("anna"), in: ServiceBench.scope).record
    return Dictionary(
      uniqueKeysWithValues: record.facts.filter { $0.kind == .transaction }.map {
        ($0.key.identifier, $0.authority)
      })
  }

  @Test(
    "An import takes no purchase from another account, whatever the policy (R44)",
    arguments: LinkPolicy.allCases)
  func claims(policy: LinkPolicy) async throws {
    let catalog = Self.catalog.replacing(
      "    archived_responses: accept",
      with: "    archived_responses: accept\n    link_policy: \(policy.rawValue)")
    try await Bench.run(catalog: catalog) { bench async throws in
      _ = try await bench.submit(receipt: Bench.receipt(["1"]), account: "owner")
      _ = try await bench.importArchive(Bench.receipt(["2"], daysAgo: 2), account: "owner")
      let owner = try await bench.state(of: "owner")
      let claim = try await bench.importArchive(
        Bench.receipt(["1", "2", "3"], daysAgo: 0), account: "claimer")
      #expect(claim.verdict == .ok)
      #expect(claim.items.dropFirst().map(\.link) == [.alreadyLinked, .alreadyLinked, .linked])
      #expect(claim.customers.allSatisfy { $0.subject != .account(Bench.scope, "owner") })
      let after = try await bench.state(of: "owner")
      #expect(after.entitlements == owner.entitlements)
      #expect(try await bench.sources(of: "claimer").map(\.evidence) == [.archivedResponse])
    }
  }

  @Test("Its renewals are facts of its app, without a transaction in the same request")
  func renewals() async throws {
    try await Bench.run(catalog: Self.catalog) { bench async throws in
      let start = SimulatedCalendar.floorDay(Bench.now)
        .advanced(by: -200 * Milliseconds.dayLength)
      let timeline = Timeline(.renewals, seed: 1, start: start, environment: .production)
      let archive = timeline.receipt(at: Bench.now)
      try #require(!archive.renewals.isEmpty && !archive.items.isEmpty)
      let result = try await bench.importArchive(archive, account: "anna")
      let kinds = result.items.map(\.kind)
      #expect(kinds.first == .appTransaction)
      #expect(
        kinds.dropFirst()
          == ([SignedKind?](repeating: .transaction, count: archive.items.count)
          + [SignedKind?](repeating: .renewalInfo, count: archive.renewals.count))[...])
      #expect(result.items.allSatisfy { $0.verdict == .ok && $0.disposition == .added })
      #expect(result.receipt?.items.count == archive.items.count)
      let again = try await bench.importArchive(archive)
      #expect(again.items.allSatisfy { $0.disposition == .duplicate })
      #expect(again.customers == result.customers)
    }
  }

  @Test("A refused response stores nothing and has a reason", arguments: Refused.allCases)
  func refused(_ reason: Refused) async throws {
    // Also when the catalog accepts the environment.
    let catalog = Self.catalog.replacing(
      "[Production, Sandbox]", with: "[Production, Sandbox, Xcode]")
    try await Bench.run(catalog: catalog) { bench async throws in
      let result = try await bench.service.importArchive(
        ArchiveSubmission(
          response: reason.response, bundleID: SimulatedApp.bundleID, accountID: "anna"))
      #expect(result.verdict == reason.verdict)
      #expect(result.detail?.isEmpty == false)
      #expect(result.receipt == nil && result.items.isEmpty && result.customers.isEmpty)
      #expect(try await bench.changeCount() == 0)
      #expect(bench.counters[.refused(reason.verdict)] == 1)
      #expect(bench.counters[.archiveAccepted] == 0)
    }
  }

  enum Refused: CaseIterable {
    case otherApp, xcode, unknownType, notJSON, signedReceipt

    var verdict: Verdict {
      switch self {
      case .otherApp: .wrongApp
      case .xcode, .unknownType: .wrongEnvironment
      case .notJSON, .signedReceipt: .malformed
      }
    }

    var response: [UInt8] {
      switch self {
      case .otherApp:
        SimulatedReceipt(bundleID: "com.example.elsewhere", creationDate: ServiceBench.now)
          .archivedResponse()
      case .xcode: ServiceBench.receipt(["1"], type: "Xcode").archivedResponse()
      case .unknownType: ServiceBench.receipt(["1"], type: "Toy").archivedResponse()
      case .notJSON: Array("{".utf8)
      case .signedReceipt: [0x30, 0x80]
      }
    }
  }

  @Test(
    "An environment that is not accepted is refused; accepted ones are separate")
  func environment() async throws {
    let archive = Bench.receipt(["1"], type: "ProductionSandbox")
    let production = Self.catalog.replacing("[Production, Sandbox]", with: "[Production]")
    try await Bench.run(catalog: production) { bench async throws in
      #expect(
        try await bench.importArchive(archive, account: "anna").verdict == .wrongEnvironment)
      #expect(try await bench.changeCount() == 0)
    }
    try await Bench.run(catalog: Self.catalog) { bench async throws in
      #expect(try await bench.importArchive(archive, account: "anna").verdict == .ok)
      #expect(try await bench.state(of: "anna").coreState == .new)
    }
  }

  @Test("An app that is not in the catalog is an invalid argument")
  func unknownApp() async throws {
    try await Bench.run(catalog: Self.catalog) { bench async throws in
      let error = await #expect(throws: ServiceError.self) {
        try await bench.importArchive(
          Bench.receipt(["1"]), bundleID: "com.example.elsewhere", account: "anna")
      }
      #expect(error?.code == .invalidArgument(field: "bundle_id"))
    }
  }

  @Test("A cancelled import is not stored")
  func givenUp() async throws {
    try await Bench.run(catalog: Self.catalog) { bench async throws in
      let archive = ArchiveSubmission(
        response: Bench.receipt(["1"]).archivedResponse(), bundleID: SimulatedApp.bundleID)
      let cancelled = await #expect(throws: ServiceError.self) {
        try await bench.service.importArchive(archive, isCancelled: { true })
      }
      #expect(cancelled?.code == .cancelled)
      let expired = await #expect(throws: ServiceError.self) {
        try await bench.service.importArchive(archive, deadline: .now - .seconds(1))
      }
      #expect(expired?.code == .deadlineExceeded)
      #expect(try await bench.changeCount() == 0)
    }
  }
}
