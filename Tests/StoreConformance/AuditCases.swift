import EntitlementDomain
package import EntitlementStore

// The audit trail (R76–R78).
extension StoreConformanceSuite {
  static let auditCases =
    [
      ConformanceCase("Each call that changes something by decision writes one entry (R76)") {
        store, _ in
        try await store.submit(TransactionSample("1", "1"), by: "alice")
        try await store.submit(TransactionSample("2", "2"))
        let caller = sampleCaller("otto")
        _ = try await store.addGrant(sampleGrant(1), by: caller)
        _ = try await store.withdrawGrant(
          grantID(1), in: readerScope,
          GrantWithdrawal(at: 7_000, author: "olive", reason: "a mistake"),
          by: sampleCaller("olive"))
        try await store.done(.link(.chain("2"), to: "bob"))
        try await store.done(.transfer(.chain("2"), from: "bob", to: "alice"))
        try await store.done(.unlink(.chain("2")))
        try await store.done(.merge("bob", into: "carol"))
        try await store.importArchive(TransactionSample("3", "3"), by: "alice", caller)
        try await store.record(
          AuditCall(
            method: "ExportCustomer", caller: caller, scope: readerScope, account: "alice",
            onBehalfOf: "grace", outcome: .disclosed, at: 9_000))
        try await store.record(
          AuditCall(method: "ReloadCatalog", caller: .server, subject: "3f", at: 9_000))
        let alice = try await store.pseudonym(of: "alice")
        let bob = try await store.pseudonyms(of: "bob")
        try await store.done(.delete("alice"), at: 10_000)

        let entries = try await store.trail()
        let told = entries.map { [$0.method, $0.author, $0.onBehalfOf, $0.reason, $0.outcome] }
        let ticket = ["otto", "ada", "a ticket", "changed"]
        try expectEqual(
          told,
          [
            ["AddGrant", "otto", "ada", "a gift", "changed"],
            ["WithdrawGrant", "olive", "", "a mistake", "changed"], ["LinkAccount"] + ticket,
            ["TransferPurchase"] + ticket, ["UnlinkAccount"] + ticket, ["MergeAccounts"] + ticket,
            ["ImportArchivedResponse", "otto", "grace", "", "changed"],
            ["ExportCustomer", "otto", "grace", "", "disclosed"],
            ["ReloadCatalog", "server", "", "", "changed"],
            ["DeleteCustomer"] + ticket,
          ])
        try expectEqual(entries[0].subject, grantID(1).rawValue)
        for entry in entries where entry.author != "server" {
          try expectEqual(entry.peer, "192.0.2.7:41822")
          try expectEqual(entry.proof, "token")
          try expectEqual(entry.tokenID, "k3Jd8sQz")
        }
        try expectEqual(
          [entries[8].peer, entries[8].proof, entries[8].tokenID], ["server", "none", ""])
        try expectEqual(entries[0].node, entries[9].node)
        try expectEqual(entries[0].bundleID, readerScope.bundleID.rawValue)
        try expectEqual(entries[0].environment, readerScope.environment.rawValue)
        try expectEqual(entries[8].environment, "")
        for position in [0, 1, 3, 4, 6, 7, 9] {
          try expectEqual(entries[position].account, alice, "account of \(entries[position])")
        }
        try expect(bob.contains(entries[2].account), "the account of the link")
        try expectEqual(entries[3].formerAccount, entries[2].account)
        try expectEqual(entries[5].formerAccount, entries[2].account)
        try expectEqual(entries.map(\.at), entries.map(\.at).sorted())
        _ = try await store.verifiedTrail()
      },

      ConformanceCase("A call that changes nothing, and a submission, write no entry (R76)") {
        store, _ in
        try await store.submit(TransactionSample("1", "1"), by: "alice")
        try await store.submit(TransactionSample("1", "1"), by: "bob")
        _ = try await store.addGrant(sampleGrant(1))
        try await store.importArchive(TransactionSample("3", "3"), by: "alice", .server)
        // Settles the contested chain for the account that has it (R71).
        try await store.done(.link(.chain("1"), to: "bob"))
        let entries = try await store.trail()
        try expectEqual(
          entries.map(\.method), ["AddGrant", "LinkAccount", "ImportArchivedResponse"])
        _ = try await store.addGrant(sampleGrant(1) { $0.accountID = "mallory" })
        try await store.importArchive(TransactionSample("3", "3"), by: "alice", .server)
        try await store.done(.link(.chain("1"), to: "bob"))
        for change: LinkRequest.Change in [
          .unlink(.chain("9")), .link(.chain("1"), to: "alice"), .delete("nobody"),
          .merge("nobody", into: "alice"),
        ] {
          guard case .refused = try await store.ask(change) else {
            throw ConformanceFailure("\(change) was done", file: #fileID, line: #line)
          }
        }
        let unknown = try await store.withdrawGrant(
          grantID(9), in: readerScope, GrantWithdrawal(at: 1, author: "otto", reason: "none"))
        try expectEqual(unknown, nil)
        try await store.done(.delete("bob"), at: 9_500)
        try await store.done(.delete("bob"), at: 9_600)
        try expectEqual(
          try await store.trail().map(\.method), entries.map(\.method) + ["DeleteCustomer"])
      },

      ConformanceCase("A change that cannot be committed leaves no entry (R76)") { store, _ in
        _ = try await store.addGrant(sampleGrant(1))
        do {
          _ = try await store.addGrant(sampleGrant(2) { $0.author = "o\u{0}live" })
          throw ConformanceFailure("the grant was stored", file: #fileID, line: #line)
        } catch is StoreError {}
        _ = try await store.addGrant(sampleGrant(3))
        try expectEqual(
          try await store.trail().map(\.subject), [grantID(1).rawValue, grantID(3).rawValue])
        _ = try await store.verifiedTrail()
      },

      ConformanceCase("A deletion erases the pseudonym, and leaves the chain whole (R77)") {
        store, _ in
        try await store.submit(TransactionSample("1", "1"), by: "alice")
        _ = try await store.addGrant(sampleGrant(1))
        try await store.done(.delete("alice"))
        try expectEqual(
          try await store.auditEntries(
            AuditQuery(limit: 9, scope: readerScope, account: "alice")), [])
        // Recorded by a call that began before the deletion.
        try await store.record(
          AuditCall(
            method: "ExportCustomer", caller: .server, scope: readerScope, account: "alice",
            outcome: .disclosed, at: 9_000))
        _ = try await store.addGrant(sampleGrant(2) { $0.createdAt = 9_500 })
        let entries = try await store.trail()
        try expectEqual(
          entries.map(\.method), ["AddGrant", "DeleteCustomer", "ExportCustomer", "AddGrant"])
        try expectEqual(entries[0].account, entries[1].account)
        try expectEqual(entries[2].account, "")
        try expect(entries[3].account != entries[0].account, "the pseudonym was used again")
        try expectEqual(
          try await store.auditEntries(
            AuditQuery(limit: 9, scope: readerScope, account: "alice")), [entries[3]])
        for text in entries.flatMap({ [$0.subject, $0.account, $0.formerAccount] }) {
          try expect(!text.contains("alice"), "an entry names the account: \(text)")
        }
        _ = try await store.verifiedTrail()
      },

      ConformanceCase("Entries are found by moment, account, method and author, in pages") {
        store, _ in
        for number in 1...9 {
          _ = try await store.addGrant(
            sampleGrant(number) {
              $0.accountID = number.isMultiple(of: 2) ? "alice" : "bob"
              $0.onBehalfOf = number < 3 ? nil : "grace"
              $0.createdAt = Milliseconds(Int64(number) * 1_000)
            }, by: sampleCaller(number < 5 ? "otto" : "olive"))
        }
        _ = try await store.withdrawGrant(
          grantID(9), in: readerScope, GrantWithdrawal(at: 9_500, author: "otto", reason: "none"),
          by: sampleCaller("otto"))
        func subjects(_ change: (inout AuditQuery) -> Void) async throws -> [String] {
          var query = AuditQuery(limit: 2)
          change(&query)
          var found: [AuditEntry] = []
          while true {
            let page = try await store.auditEntries(query)
            found += page
            guard let last = page.last else { break }
            query.after = AuditQuery.Place(
              at: last.at, chain: last.chain, position: last.position)
          }
          return found.map { "\($0.method) \($0.subject.suffix(1))" }
        }
        let all = (1...9).map { "AddGrant \($0)" } + ["WithdrawGrant 9"]
        try expectEqual(try await subjects { _ in }, all)
        try expectEqual(try await subjects { $0.isByChain = true }, all)
        try expectEqual(try await subjects { $0.author = "olive" }, Array(all[4..<9]))
        try expectEqual(try await subjects { $0.onBehalfOf = "grace" }, Array(all[2..<9]))
        try expectEqual(try await subjects { $0.method = "WithdrawGrant" }, ["WithdrawGrant 9"])
        try expectEqual(
          try await subjects {
            $0.from = 3_000
            $0.until = 5_000
          }, Array(all[2..<4]))
        try expectEqual(
          try await subjects {
            $0.scope = readerScope
            $0.account = "alice"
          }, [2, 4, 6, 8].map { "AddGrant \($0)" })
        let sandbox = AppScope(bundleID: readerScope.bundleID, environment: .sandbox)
        try expectEqual(try await subjects { $0.scope = sandbox }, [])
        try await store.done(.merge("alice", into: "bob"))
        try expectEqual(
          try await subjects {
            $0.scope = readerScope
            $0.account = "alice"
          }.count, 11)
      },
    ] + sealingCases

  private static let sealingCases = [
    ConformanceCase("A seal names the head of each chain that grew since the last one (R78)") {
      store, harness in
      try expectEqual(try await store.sealAudit(keepingDays: nil, now: 1), nil)
      _ = try await store.addGrant(sampleGrant(1))
      let first = try unwrap(try await store.sealAudit(keepingDays: nil, now: 20_000), "seal")
      try expectEqual(first.number, 1)
      try expectEqual(first.chains.map(\.head.position), [1])
      try expectEqual(try await store.sealAudit(keepingDays: nil, now: 30_000), nil)
      _ = try await store.addGrant(sampleGrant(2))
      _ = try unwrap(try await store.sealAudit(keepingDays: nil, now: 40_000), "seal")
      // Each run writes a chain of its own.
      let reopened = try await harness.reopen(store)
      _ = try await reopened.addGrant(sampleGrant(3))
      let verification = try await reopened.verifiedTrail(
        notedHead: first.hash)
      try expectEqual(verification.chainCount, 2)
      try expectEqual(verification.entryCount, 3)
      try expectEqual(verification.lastSeal?.number, 2)
      let other = try await reopened.verification(notedHead: String(repeating: "0", count: 64))
      try expect(other.fault != nil, "a head that was never written was found")
      await reopened.close()
    },

    ConformanceCase("Retention seals what it removes, and verification goes on from there (R78)") {
      store, _ in
      let day: Int64 = 86_400_000
      // The clock of the database may decide.
      let now = Milliseconds(1_900_000_000_000)
      for number in 1...6 {
        _ = try await store.addGrant(
          sampleGrant(number) {
            $0.createdAt = number < 5 ? Milliseconds(Int64(number)) : Milliseconds(4_000 * day * 9)
          })
      }
      _ = try await store.sealAudit(keepingDays: nil, now: now)
      let seal = try unwrap(try await store.sealAudit(keepingDays: 30, now: now), "seal")
      try expectEqual(seal.chains.map(\.removed.position), [4])
      try expectEqual(try await store.trail().map(\.position), [5, 6])
      let verification = try await store.verifiedTrail()
      try expectEqual(verification.removedCount, 4)
      try expectEqual(verification.entryCount, 2)
      try expectEqual(try await store.sealAudit(keepingDays: 30, now: now), nil)
      _ = try await store.addGrant(sampleGrant(7))
      _ = try await store.sealAudit(keepingDays: 30, now: now)
      try expectEqual(try await store.verifiedTrail().entryCount, 3)
    },

    ConformanceCase("Concurrent calls and submissions make one whole chain (R78)") { store, _ in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<64 {
          group.addTask {
            let id = GrantID("5d0c9f2a-7b1e-4e63-9a44-\(100_000_000_000 + number)")
            _ = try await store.addGrant(
              sampleGrant(1) {
                $0.id = id
                $0.accountID = AccountID("a-\(number % 7)")
              })
          }
          group.addTask {
            try await store.submit(
              TransactionSample("\(number)", "\(number)"), by: AccountID("a-\(number % 7)"))
          }
          group.addTask { _ = try await store.sealAudit(keepingDays: nil, now: 9_000) }
        }
        try await group.waitForAll()
      }
      let verification = try await store.verifiedTrail()
      try expectEqual(verification.entryCount, 64)
      try expectEqual(verification.chainCount, 1)
      try expectEqual(Set(try await store.trail().map(\.account)).count, 7, "pseudonyms")
    },
  ]

  /// Several nodes with one database.
  static let sharedAuditCases = [
    ConformanceCase("Three nodes write chains of their own, and one of them seals (R78)") {
      store, harness in
      let nodes = [store, try await harness.open(), try await harness.open()]
      try await withThrowingTaskGroup(of: Int.self) { group in
        for (index, node) in nodes.enumerated() {
          for number in 0..<40 {
            group.addTask {
              let id = GrantID("5d0c9f2a-7b1e-4e63-9a44-\(100_000_000_000 + number * 3 + index)")
              _ = try await node.addGrant(
                sampleGrant(1) {
                  $0.id = id
                  // Contended: each account is written by all nodes.
                  $0.accountID = AccountID("a-\(number % 5)")
                })
              return 0
            }
          }
          group.addTask {
            var seals = 0
            for _ in 0..<10 {
              if try await node.sealAudit(keepingDays: nil, now: 9_000) != nil { seals += 1 }
            }
            return seals > 0 ? 1 : 0
          }
        }
        let sealers = try await group.reduce(0, +)
        try expect(sealers <= 1, "\(sealers) nodes sealed while one had the lease")
      }
      let verification = try await store.verifiedTrail()
      try expectEqual(verification.entryCount, 120)
      try expectEqual(verification.chainCount, 3)
      try expectEqual(Set(try await store.trail().map(\.account)).count, 5, "pseudonyms")
      for node in nodes.dropFirst() { await node.close() }
    }
  ]
}

extension EntitlementStore {
  /// All entries, in the order of their moments, read in small pages.
  func trail() async throws -> [AuditEntry] {
    var entries: [AuditEntry] = []
    while true {
      var query = AuditQuery(limit: 7)
      if let last = entries.last {
        query.after = AuditQuery.Place(at: last.at, chain: last.chain, position: last.position)
      }
      let page = try await auditEntries(query)
      if page.isEmpty { return entries }
      entries += page
    }
  }

  package func verification(notedHead: String? = nil) async throws -> AuditVerification {
    var verification = AuditVerification(notedHead: notedHead)
    while true {
      let page = try await auditSeals(after: verification.lastSeal?.number ?? 0, limit: 3)
      if page.isEmpty { break }
      for seal in page { try verification.add(seal) }
    }
    var query = AuditQuery(isByChain: true, limit: 7)
    while true {
      let page = try await auditEntries(query)
      guard let last = page.last else { break }
      for entry in page { try verification.add(entry) }
      query.after = AuditQuery.Place(at: last.at, chain: last.chain, position: last.position)
    }
    verification.finish()
    return verification
  }

  /// As ``verification(notedHead:)``, of a trail that must be whole.
  func verifiedTrail(
    notedHead: String? = nil, file: StaticString = #fileID, line: UInt = #line
  ) async throws -> AuditVerification {
    let verification = try await verification(notedHead: notedHead)
    try expect(
      verification.fault == nil, "the trail is broken: \(verification.fault as Any)", file: file,
      line: line)
    return verification
  }

  fileprivate func pseudonym(of account: AccountID) async throws -> String {
    let entries = try await auditEntries(
      AuditQuery(limit: 99, scope: readerScope, account: account))
    return try unwrap(entries.first, "entry of \(account)").account
  }

  /// All pseudonyms in the entries of an account and of the accounts that were merged into it.
  fileprivate func pseudonyms(of account: AccountID) async throws -> Set<String> {
    let entries = try await auditEntries(
      AuditQuery(limit: 99, scope: readerScope, account: account))
    return Set(entries.flatMap { [$0.account, $0.formerAccount] })
  }

  fileprivate func importArchive(
    _ sample: some FactSample, by account: AccountID, _ caller: AuditCaller
  ) async throws {
    _ = try await commit(
      Submission(
        facts: [sample.signed()], accountID: account, receivedAt: 9_000, importedBy: caller,
        onBehalfOf: "grace"))
  }
}
