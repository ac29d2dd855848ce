import CatalogFiles
import EntitlementDomain
import EntitlementService
import EntitlementStore
import Logging
import SQLiteStore
import StoreSimulator
import Testing
import Verification

@Suite("Reloading the catalog")
struct CatalogReloaderTests {
  private static let withoutAdFree = SimulatedApp.catalogYAML.replacing(
    "type: non_consumable\n    entitlements: [ad_free]",
    with: "type: non_consumable\n    entitlements: [basic]")

  @Test("A valid file comes in force, and all cached answers are invalidated")
  func valid() async throws {
    try await ServiceBench.run { bench async throws in
      _ = try await bench.submit([try bench.purchase()], account: "anna")
      #expect(try await bench.state(of: "anna").entitlements.map(\.entitlementID) == ["ad_free"])
      let before = bench.holder.snapshot
      bench.file.set(Self.withoutAdFree)
      let attempt = await bench.reloader.reload()
      #expect(attempt.isValid)
      #expect(try await bench.state(of: "anna").entitlements.map(\.entitlementID) == ["basic"])
      let (snapshot, lastAttempt) = bench.holder.status
      #expect(snapshot.digest == attempt.digest)
      #expect(snapshot.digest != before.digest)
      #expect(snapshot.inForceSince > before.inForceSince)
      #expect(lastAttempt == attempt)
      #expect(bench.counters[.catalogReloadValid] == 1)
      let line = try #require(bench.log.lines(at: .notice).first)
      #expect(line.message == "another catalog is in force")
      #expect(line.metadata["old_digest"] == before.digest)
      #expect(line.metadata["digest"] == snapshot.digest)
      #expect(line.metadata["products"] == "6")
    }
  }

  @Test("Another catalog is in the audit trail before it is in force, or it is not in force (R76)")
  func audited() async throws {
    try await ServiceBench.run { bench async throws in
      let before = bench.holder.snapshot.digest
      bench.file.set(Self.withoutAdFree)
      let unaudited = UnauditedStore(base: bench.store)
      let reloader = CatalogReloader(
        source: bench.file.source, holder: bench.holder, clock: bench.clock.clock,
        counters: bench.counters, logger: bench.log.logger,
        record: { call throws(StoreError) in try await unaudited.record(call) })
      let attempt = await reloader.reload()
      #expect(!attempt.isValid)
      #expect(attempt.isTransient)
      #expect(attempt.failure?.hasPrefix("the audit trail cannot be written") == true)
      #expect(bench.holder.snapshot.digest == before)
      // Checking the file needs no entry.
      #expect(await reloader.reload(dryRun: true).isValid)

      let store = bench.store
      let holder = bench.holder
      let audited = CatalogReloader(
        source: bench.file.source, holder: holder, clock: bench.clock.clock,
        counters: bench.counters, logger: bench.log.logger,
        record: { call throws(StoreError) in
          if holder.snapshot.digest != before {
            throw StoreError(.internalFault, "the catalog is in force already")
          }
          try await store.record(call)
        })
      let caller = AuditCaller(peer: "192.0.2.7:41822", name: "ops", proof: .certificate)
      #expect(await audited.reload(by: try ReloadOrigin(caller, onBehalfOf: "ada")).isValid)
      // The same file again.
      #expect(await audited.reload().isValid)
      let entries = try await store.auditEntries(AuditQuery(limit: 9))
      #expect(entries.map(\.subject) == [holder.snapshot.digest])
      #expect(
        entries.map { [$0.peer, $0.author, $0.proof, $0.onBehalfOf] }
          == [["192.0.2.7:41822", "ops", "certificate", "ada"]])
    }
  }

  @Test("A file that is in force already invalidates nothing")
  func same() async throws {
    try await ServiceBench.run { bench async throws in
      _ = try await bench.submit([try bench.purchase()], account: "anna")
      _ = try await bench.state(of: "anna")
      let before = bench.holder.snapshot
      #expect(await bench.reloader.reload().isValid)
      #expect(bench.holder.snapshot.inForceSince == before.inForceSince)
      #expect(bench.reader.statistics.entries == 1)
    }
  }

  @Test("A broken file leaves the old one in force, and is an error in the log once")
  func broken() async throws {
    try await ServiceBench.run { bench async throws in
      _ = try await bench.submit([try bench.purchase()], account: "anna")
      let before = bench.holder.snapshot
      bench.file.set(SimulatedApp.catalogYAML.replacing("type: consumable", with: "type: eternal"))
      let attempt = await bench.reloader.reload()
      #expect(!attempt.isValid)
      let issue = try #require(attempt.issues.first { $0.severity == .error })
      #expect(issue.field == "products[5].type")
      #expect(issue.line > 1)
      _ = await bench.reloader.reload()
      let (snapshot, lastAttempt) = bench.holder.status
      #expect(snapshot.digest == before.digest)
      #expect(lastAttempt?.issues == attempt.issues)
      #expect(try await bench.state(of: "anna").entitlements.map(\.entitlementID) == ["ad_free"])
      #expect(bench.counters[.catalogReloadFailed] == 2)
      let errors = bench.log.lines(at: .error)
      #expect(errors.count == 1)
      #expect(errors.first?.metadata["digest"] == attempt.digest)
      #expect(
        errors.first?.metadata["reason"]?.contains("line \(issue.line), products[5].type: error")
          == true)

      // Other content, then none, then the first again: each is logged as an error.
      bench.file.set("version: 2")
      _ = await bench.reloader.reload()
      bench.file.remove()
      #expect(await bench.reloader.reload().failure == "it is gone")
      #expect(bench.log.lines(at: .error).count == 3)
      bench.file.set(Self.withoutAdFree)
      #expect(await bench.reloader.reload().isValid)
      #expect(bench.holder.status.lastAttempt?.isValid == true)
      #expect(try await bench.state(of: "anna").entitlements.map(\.entitlementID) == ["basic"])
    }
  }

  @Test("Warnings do not hide the errors of a file in the log")
  func warningsFirst() async throws {
    try await ServiceBench.run { bench async throws in
      let doubtful = (0..<90).map { "  - {id: p\($0), type: non_renewing}\n" }.joined()
      bench.file.set(
        SimulatedApp.catalogYAML.replacing("products:\n", with: "products:\n" + doubtful)
          .replacing("type: consumable", with: "type: eternal"))
      let attempt = await bench.reloader.reload()
      #expect(!attempt.isValid)
      #expect(attempt.issues.count == 91)
      let reason = try #require(bench.log.lines(at: .error).first?.metadata["reason"])
      #expect(reason.contains("products[95].type: error"))
      #expect(reason.hasSuffix("; 90 more"))
    }
  }

  @Test("A file that is not text, or too large, is a failed attempt")
  func unreadable() async throws {
    try await ServiceBench.run { bench async throws in
      bench.file.set(bytes: [0x76, 0xFF])
      #expect(await bench.reloader.reload().failure == "it is not UTF-8")
      bench.file.set(bytes: Array(repeating: 0x20, count: CatalogFile.maximumBytes + 1))
      #expect(await bench.reloader.reload().failure?.hasPrefix("it is larger than") == true)
    }
  }

  @Test("A dry run returns the outcome and changes nothing")
  func dryRun() async throws {
    try await ServiceBench.run { bench async throws in
      let before = bench.holder.snapshot
      bench.file.set(Self.withoutAdFree)
      let attempt = await bench.reloader.reload(dryRun: true)
      #expect(attempt.isValid)
      #expect(attempt.digest != before.digest)
      #expect(bench.holder.snapshot.digest == before.digest)
      #expect(bench.holder.status.lastAttempt == nil)
      #expect(bench.counters[.catalogReloadValid] == 0)
      #expect(bench.log.lines.isEmpty)
    }
  }

  @Test("Concurrent callers each get a read that began after their call")
  func together() async throws {
    try await ServiceBench.run { bench async throws in
      bench.file.set(Self.withoutAdFree)
      let attempts = await withTaskGroup(of: CatalogReloadAttempt.self) { group in
        for _ in 0..<100 { group.addTask { await bench.reloader.reload() } }
        return await group.reduce(into: []) { $0.append($1) }
      }
      #expect(attempts.count == 100)
      let digest = bench.holder.snapshot.digest
      #expect(attempts.allSatisfy { $0.isValid && $0.digest == digest })
      #expect(bench.log.lines(at: .notice).count == 1)
    }
  }

  @Test("The next submission uses the new catalog")
  func policy() async throws {
    try await ServiceBench.run { bench async throws in
      bench.file.set(
        SimulatedApp.catalogYAML.replacing("[Production, Sandbox]", with: "[Sandbox]"))
      #expect(await bench.reloader.reload().isValid)
      let refused = try await bench.submit([try bench.purchase()], account: "anna")
      #expect(refused.items.map(\.verdict) == [.wrongEnvironment])
      let error = await #expect(throws: ServiceError.self) { try await bench.state(of: "anna") }
      #expect(error?.code == .invalidArgument(field: "environment"))
      bench.file.set(SimulatedApp.catalogYAML)
      #expect(await bench.reloader.reload().isValid)
      let accepted = try await bench.submit([try bench.purchase()], account: "anna")
      #expect(accepted.items.map(\.verdict) == [.ok])
    }
  }
}
