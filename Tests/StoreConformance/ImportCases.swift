import EntitlementDomain
import EntitlementStore
import TestSupport

// Imports of accounts: which rows are done (R89), and what they may link (R90). Moments are those of a clock
// that the cases set.
extension StoreConformanceSuite {
  static let importCases: [ConformanceCase] = addingCases + workCases + takingCases

  private static let addingCases: [ConformanceCase] = [
    ConformanceCase("A row is stored once, however often it is added (R89)") { store, _ in
      let rows = [row(2, "anna", "11"), row(3, "bert", "12", token: "t")]
      try expectEqual(try await store.added(rows), rows.map { outcome($0) })
      try expectEqual(
        try await store.added(rows + [row(9, "dora", "13")]),
        rows.map { outcome($0, isKnown: true) } + [outcome(row(9, "dora", "13"))])
      var summary = try unwrap(try await store.imports(.named("i")).first, "the import")
      try expect(summary.id > 0, "an id")
      summary.id = 0
      try expectEqual(
        summary,
        AccountImportSummary(
          id: 0, name: "i", bundleID: readerScope.bundleID, author: "otto", beganAt: 1_000,
          lastRow: 9,
          counts: [AccountImportSummary.Count(state: .waiting, reason: nil, count: 3)]))
      try expectEqual(
        try await store.importRows(query("i", .waiting)), rows + [row(9, "dora", "13")])
      try expectEqual(
        try await store.importRows(query("i", .waiting, after: 2, limit: 1)), [rows[1]])
      try expectEqual(try await store.importRows(query("other", .waiting)), [])
      try expectEqual(try await store.imports(.named("other")), [])
      try expectEqual(try await store.waitingImportRows(limit: 100), 3)
      try expectEqual(try await store.waitingImportRows(limit: 2), 2)
    },

    ConformanceCase("Each app has ids of imports of its own") { store, _ in
      let foreign = AccountImportName("i", of: "com.example.other")
      let scope = AppScope(bundleID: "com.example.other", environment: .production)
      try await store.added([row(2, "anna", "11")])
      try await store.added([row(2, "bert", "12", of: foreign, in: scope)])
      try expectEqual(foreign.id, "i")
      let summaries = [
        try await store.imports(.named("i")).first, try await store.imports(.named(foreign)).first,
      ]
      try expectEqual(
        summaries.map { $0?.bundleID }, [readerScope.bundleID, "com.example.other"])
      try expectEqual(
        try await store.importRows(query(foreign, .waiting, in: [scope])).map(\.account), ["bert"])
      try expectEqual(
        try await store.importRows(query("i", .waiting)).map(\.account), ["anna"])
    },

    ConformanceCase("A row that is stored with other values is not taken for it (R89)") {
      store, _ in
      let stored = row(2, "anna", "11", token: "t")
      try await store.added([stored])
      var changed = [stored, stored, stored, stored]
      changed[0].account = "carl"
      changed[1].transaction = "12"
      changed[2].token = nil
      changed[3].scope = sandboxScope
      for sent in changed {
        for isDryRun in [true, false] {
          try expectEqual(
            try await store.add(
              AccountImportBatch(
                name: "i", rows: [row(1, "emma", "19"), sent], at: 1_000, author: "otto",
                isDryRun: isDryRun)),
            .differs(2))
        }
      }
      try expectEqual(try await store.states(of: "i"), [.waiting: [2]])
      // Looked for in both environments, it begins where the server has a key.
      var either = stored
      either.scope = sandboxScope
      either.fallsBack = true
      try expectEqual(try await store.added([either]), [outcome(stored, isKnown: true)])
    },

    ConformanceCase("A row rests on no row of another import that may be cancelled (R89)") {
      store, _ in
      try await store.added([row(1, "anna", "11")])
      try await store.added([
        row(1, "anna", "11", of: "j"), row(2, "anna", "11", of: "j"), row(4, "bert", "11", of: "j"),
      ])
      try expectEqual(
        try await store.states(of: "j"), [.waiting: [1], .duplicate: [2], .failed: [4]])
      try expectEqual(try await store.changed("i", .cancel, at: 2_000), 1)
      try expectEqual(try await store.leasedRows(at: 3_000).map(\.place.name), ["j"])
    },

    ConformanceCase("A conflict waits again when no row of another account is left (R89)") {
      store, _ in
      try await store.added([row(1, "anna", "11"), row(2, "bert", "11"), row(4, "bert", "12")])
      try expectEqual(try await store.changed("i", .retry, at: 2_000), 0)
      try expectEqual(try await store.changed("i", .cancel, at: 3_000), 2)
      // Rows that were cancelled come first.
      try expectEqual(try await store.changed("i", .retry, at: 4_000), 2)
      try expectEqual(try await store.states(of: "i"), [.waiting: [1, 4], .failed: [2]])
      try await store.leasedRows(at: 5_000).asyncForEach {
        try await store.report([report($0, .done, at: 6_000)])
      }
      try expectEqual(try await store.changed("i", .retry, at: 7_000), 1)
      try expectEqual(try await store.states(of: "i"), [.waiting: [2], .done: [1, 4]])
    },

    ConformanceCase("Only rows of the named environments are read, cancelled and retried (R89)") {
      store, _ in
      var refused = row(2, "bert", "12", in: sandboxScope)
      refused.state = .failed
      refused.reason = .notServed
      try await store.added([
        row(1, "anna", "11"), refused, row(4, "carl", "13", in: sandboxScope),
      ])
      let one = [readerScope]
      try expectEqual(
        try await store.importRows(query("i", .waiting, in: one)).map(\.place.number), [1])
      try expectEqual(try await store.importRows(query("i", .failed, in: one)), [])
      try expectEqual(try await store.changed("i", .retry, at: 2_000, in: one), 0)
      try expectEqual(try await store.changed("i", .cancel, at: 2_000, in: one), 1)
      try expectEqual(
        try await store.states(of: "i"), [.waiting: [4], .failed: [2], .cancelled: [1]])
      try expectEqual(try await store.changed("i", .retry, at: 3_000, in: []), 0)
      try expectEqual(try await store.changed("i", .retry, at: 3_000, in: [sandboxScope]), 1)
      try expectEqual(try await store.states(of: "i"), [.waiting: [2, 4], .cancelled: [1]])
      let header = try await store.imports(.header("i"))
      try expectEqual(header.map(\.lastRow), [4])
      try expectEqual(header.map(\.counts), [[]])
      try expectEqual(try await store.imports(.header("other")), [])
    },

    ConformanceCase("An account and transaction that another row has is a duplicate (R89)") {
      store, _ in
      try await store.added([row(1, "anna", "11"), row(2, "anna", "11"), row(3, "anna", "12")])
      try expectEqual(
        try await store.states(of: "i"), [.waiting: [1, 3], .duplicate: [2]])
      // Also of another import, and one that is done.
      try await store.leasedRows(at: 1_000).asyncForEach {
        try await store.report([report($0, .done, at: 2_000)])
      }
      try await store.added([row(1, "anna", "12", of: "j"), row(2, "bert", "12", of: "j")])
      try expectEqual(try await store.states(of: "j"), [.duplicate: [1], .waiting: [2]])
      let duplicate = try await store.importRows(query("j", .duplicate))
      try expectEqual(duplicate.map(\.detail), ["as row 3 of import i"])
      // What failed is done again by another row.
      try await store.leasedRows(at: 3_000).asyncForEach {
        try await store.report([report($0, .failed(.unknownTransaction, "x"), at: 3_000)])
      }
      try await store.added([row(3, "bert", "12", of: "j")])
      try expectEqual(
        try await store.states(of: "j"), [.duplicate: [1], .failed: [2], .waiting: [3]])
    },

    ConformanceCase("Of two accounts for one transaction the first one is done (R89)") {
      store, _ in
      try await store.added([row(1, "anna", "11")])
      try await store.added([
        row(2, "bert", "11"), row(3, "bert", "11", in: sandboxScope), row(4, "bert", "12"),
        row(5, "anna", "12"),
      ])
      try expectEqual(try await store.states(of: "i"), [.waiting: [1, 3, 4], .failed: [2, 5]])
      let failed = try await store.importRows(query("i", .failed))
      try expectEqual(failed.map(\.reason), [.conflict, .conflict])
      try expectEqual(
        failed.map(\.detail),
        [1, 4].map { "row \($0) of import i has another account for this transaction" })
    },

    ConformanceCase("A dry run stores nothing, and answers as if it did (R89)") { store, _ in
      let rows = [row(1, "anna", "11"), row(2, "anna", "11"), row(3, "bert", "11")]
      let dry = try await store.added(rows, isDryRun: true)
      try expectEqual(try await store.imports(.named("i")), [])
      try expectEqual(try await store.waitingImportRows(limit: 9), 0)
      try expectEqual(try await store.added(rows), dry)
      try expectEqual(dry.map(\.row.state), [.waiting, .duplicate, .failed])
      try expectEqual(
        try await store.added(rows, isDryRun: true).map(\.wasKnown), [true, true, true])
    },

    ConformanceCase("Imports are listed, changed and deleted (R89)") { store, _ in
      try await store.added([row(1, "anna", "11"), row(2, "bert", "12")])
      var invalid = row(3, "carl", "x")
      invalid.state = .failed
      invalid.reason = .invalid
      invalid.detail = "no id"
      try await store.added([invalid])
      try await store.added([row(1, "dora", "13", of: "j")])
      let page = try await store.imports(.after(0, limit: 1))
      try expectEqual(page.map(\.name), ["i"])
      try expectEqual(page.map(\.lastRow), [3])
      try expectEqual(
        try await store.imports(.after(page[0].id, limit: 9)).map(\.name), ["j"])
      try expectEqual(try await store.changed("i", .cancel, at: 2_000), 2)
      try expectEqual(try await store.states(of: "i"), [.cancelled: [1, 2], .failed: [3]])
      try expectEqual(try await store.leasedRows(at: 9_000).map(\.place.name), ["j"])
      try expectEqual(try await store.changed("i", .retry, at: 3_000), 2)
      try expectEqual(try await store.states(of: "i"), [.waiting: [1, 2], .failed: [3]])
      try expectEqual(try await store.changed("i", .retry, at: 3_000), 0)
      try expectEqual(try await store.changed("i", .delete, at: 4_000), 3)
      try expectEqual(try await store.imports(.named("i")), [])
      try expectEqual(try await store.changed("i", .delete, at: 4_000), nil)
      // The same rows again are new ones.
      try await store.added([row(1, "anna", "11")])
      try expectEqual(try await store.states(of: "i"), [.waiting: [1]])
    },
  ]

  private static let workCases: [ConformanceCase] = [
    ConformanceCase("A row is leased to one process, and again when its lease has ended (R89)") {
      store, _ in
      try await store.added((1...3).map { row(Int64($0), "anna", TransactionID("1\($0)")) })
      try expectEqual(try await store.leasedRows(at: 999), [])
      let first = try await store.leasedRows("a", at: 1_000, limit: 2)
      try expectEqual(first.map(\.place.number), [1, 2])
      try expectEqual(first.map(\.lease), ["a", "a"])
      try expectEqual(try await store.leasedRows("b", at: 1_000).map(\.place.number), [3])
      try expectEqual(try await store.leasedRows("c", at: 30_999), [])
      // Rows of a failure wait longer.
      try await store.report([
        report(first[0], .done, at: 2_000),
        report(
          first[1], .waits(until: 50_000, detail: "no route", failures: 1, refusals: 2),
          cursor: "c", at: 2_000),
      ])
      try expectEqual(try await store.states(of: "i"), [.done: [1], .waiting: [2, 3]])
      let again = try await store.leasedRows("d", at: 31_000)
      try expectEqual(again.map(\.place.number), [3])
      try expectEqual(again.map(\.failures), [1])
      try expectEqual(again.map(\.detail), ["the lease ended without a report"])
      let waited = try await store.leasedRows("e", at: 50_000)
      try expectEqual(waited.map(\.place.number), [2])
      try expectEqual([waited[0].failures, waited[0].refusals], [1, 2])
      try expectEqual([waited[0].detail, waited[0].cursor], ["no route", "c"])
      // Who has lost the lease tells nothing.
      try await store.report([report(again[0], .done, lease: "b", at: 60_000)])
      try await store.report([report(again[0], .failed(.refused, "why"), at: 60_000)])
      let failed = try await store.importRows(query("i", .failed))
      try expectEqual(failed.map(\.reason), [.refused])
      try expectEqual(failed.map(\.detail), ["why"])
      try expectEqual(failed.map(\.changedAt), [60_000])
    },

    ConformanceCase("Its holder renews a lease (R89)") { store, _ in
      try await store.added([row(1, "anna", "1"), row(2, "bert", "2")])
      let held = try await store.leasedRows("a", at: 1_000)
      try await store.renewImportLeases(
        [held[0].place: "a", held[1].place: "another"], until: 90_000)
      try await store.renewImportLeases([:], until: 90_000)
      try expectEqual(try await store.leasedRows("b", at: 31_000).map(\.place.number), [2])
      try expectEqual(try await store.leasedRows("c", at: 89_999).map(\.place.number), [2])
      // One that has ended stays lost.
      try await store.renewImportLeases([held[1].place: "a"], until: 200_000)
      let again = try await store.leasedRows("d", at: 150_000)
      try expectEqual(again.map(\.place.number), [1, 2])
      try expectEqual(again.map(\.failures), [1, 3])
      try await store.report([report(again[0], .done, at: 150_000)])
      try await store.renewImportLeases([again[0].place: "d"], until: 300_000)
      try expectEqual(try await store.states(of: "i"), [.done: [1], .waiting: [2]])
    },

    ConformanceCase("The rows that name an account are found, and deleted without it (R89)") {
      store, _ in
      try await store.added([
        row(1, "anna", "1"), row(2, "bert", "2"), row(3, "anna", "3"), row(4, "carl", "4"),
        row(5, "anna", "5", in: sandboxScope),
      ])
      try await store.added([row(1, "anna", "1", of: "j")])
      func found(
        _ accounts: [AccountID], in scope: AppScope = readerScope, limit: Int = 100
      ) async throws -> [String] {
        try await store.importRows(naming: accounts, in: scope, limit: limit)
          .map { "\($0.place.name) \($0.place.number)" }.sorted()
      }
      try expectEqual(try await found(["anna"]), ["i 1", "i 3", "j 1"])
      try expectEqual(try await found(["anna", "bert"], limit: 1), ["i 1", "i 2"])
      try expectEqual(try await found(["anna"], in: sandboxScope), ["i 5"])
      try expectEqual(try await found(["dora"]), [])
      try expectEqual(
        try await found(["anna"], in: AppScope(bundleID: "none", environment: .sandbox)), [])
      try await store.eraseImportRows(naming: "anna", in: readerScope)
      try await store.eraseImportRows(naming: "dora", in: readerScope)
      try expectEqual(try await found(["anna"]), [])
      try expectEqual(try await store.states(of: "i"), [.waiting: [2, 4, 5]])
      try expectEqual(try await found(["anna"], in: sandboxScope), ["i 5"])
    },

    ConformanceCase("Apps take turns, however many rows one of them has (R89)") { store, _ in
      try await store.added((1...50).map { row(Int64($0), "anna", TransactionID("1\($0)")) })
      try await store.added([row(1, "bert", "99", of: "j", in: sandboxScope)])
      let leased = try await store.leasedRows(at: 1_000, limit: 2)
      try expectEqual(Set(leased.map(\.scope)), [readerScope, sandboxScope])
      try expectEqual(try await store.leasedRows(at: 1_000, scopes: [sandboxScope]), [])
    },

    ConformanceCase("The rows of an account are deleted with it (R46, R89)") { store, _ in
      try await store.submit(TransactionSample("1", "1"), by: "anna")
      try await store.added([row(1, "anna", "1"), row(2, "bert", "2")])
      _ = try await store.perform(
        LinkRequest(
          scope: readerScope, change: .delete("anna"), reason: "r", at: 6_000,
          caller: sampleCaller("otto")))
      try expectEqual(try await store.states(of: "i"), [.waiting: [2]])
    },
  ]

  private static let takingCases: [ConformanceCase] = [
    ConformanceCase("An import takes no purchase from another account, whatever the policy (R90)") {
      store, _ in
      for policy in [LinkPolicy.transfer, .transferIfInactive, .keep] {
        let chain = "\(policy)"
        let sample = TransactionSample(chain, chain)
        try await store.submit(sample, by: "anna")
        let receipt = try await store.imported(
          [sample.with { $0.signedAt = 2_000 }, TransactionSample("\(chain)2", "\(chain)2")],
          by: "bert", under: PolicySample.catalog(policy))
        try expectEqual(receipt.links, [.alreadyLinked, .linked])
        try expect(
          !receipt.customers.map(\.subject).contains(.account(readerScope, "anna")),
          "the owner is named")
        try expectEqual(
          try await store.account(of: OriginalTransactionID(chain)), "anna", "\(policy)")
        // The new version is stored all the same.
        try expectEqual(receipt.dispositions, [.replaced, .added])
      }
    },

    ConformanceCase("A refused import shows no hint for a second account (R71, R90)") { store, _ in
      let token: AppAccountToken = "7e3fb20b-4cdb-47cc-936d-99d65f608138"
      let owned = TransactionSample("1", "1").with {
        $0.token = token
        $0.appTransaction = "77"
      }
      try await store.submit(owned, by: "anna")
      _ = try await store.imported([owned], by: "bert", under: PolicySample.catalog(nil))
      try expectEqual(try await store.ambiguities().count, 0)
      // Both still lead to the owner.
      try await store.submit(
        TransactionSample("2", "2").with { $0.token = token }, under: PolicySample.catalog(nil))
      try await store.submit(
        TransactionSample("3", "3").with { $0.appTransaction = "77" },
        under: PolicySample.catalog(nil))
      try expectEqual(try await store.account(of: "2"), "anna")
      try expectEqual(try await store.account(of: "3"), "anna")
    },

    ConformanceCase("An import takes no hinted app transaction from an account (R72, R90)") {
      store, _ in
      let token: AppAccountToken = "7e3fb20b-4cdb-47cc-936d-99d65f608138"
      let catalog = PolicySample.catalog(nil)
      try await store.submit(TransactionSample("1", "1").with { $0.token = token }, by: "anna")
      // The token gives anna the chain, and so its app transaction.
      try await store.submit(
        TransactionSample("2", "2").with {
          $0.token = token
          $0.appTransaction = "77"
        }, under: catalog)
      try expectEqual(try await store.account(of: "2"), "anna")
      let receipt = try await store.imported(
        [TransactionSample("3", "3").with { $0.appTransaction = "77" }], by: "bert", under: catalog)
      try expectEqual(receipt.links, [.linked])
      try expectEqual(try await store.ambiguities().count, 0)
      try await store.submit(
        TransactionSample("4", "4").with { $0.appTransaction = "77" }, under: catalog)
      try expectEqual(try await store.account(of: "4"), "anna")
    },

    ConformanceCase("A token that is bound to another account stays bound to it (R90)") {
      store, _ in
      let token: AppAccountToken = "7e3fb20b-4cdb-47cc-936d-99d65f608138"
      func bind(to account: AccountID) async throws -> LinkAnswer {
        try await store.perform(
          LinkRequest(
            scope: readerScope, change: .bindToken(token, to: account), reason: "r", at: 6_000,
            caller: sampleCaller("otto"), keepsBoundTokens: true))
      }
      guard case .done = try await bind(to: "anna") else {
        throw ConformanceFailure("a new token is not bound", file: #fileID, line: #line)
      }
      try expectEqual(try await bind(to: "bert"), .refused(.linkedElsewhere))
      guard case .done(let receipt) = try await bind(to: "anna"), !receipt.isChanged else {
        throw ConformanceFailure("it is bound again", file: #fileID, line: #line)
      }
    },
  ]
}

/// Imports of the usual app are named by their ids alone.
extension AccountImportName: ExpressibleByStringLiteral {
  package init(stringLiteral id: String) { self.init(id, of: readerScope.bundleID) }
}

private let sandboxScope = AppScope(bundleID: readerScope.bundleID, environment: .sandbox)

private func row(
  _ number: Int64, _ account: AccountID, _ transaction: TransactionID,
  of name: AccountImportName = "i", in scope: AppScope = readerScope,
  token: AppAccountToken? = nil
) -> AccountImportRow {
  AccountImportRow(
    place: AccountImportRow.Place(name, number), scope: scope, fallsBack: number == 3,
    account: account, transaction: transaction, token: token, dueAt: 1_000, changedAt: 1_000)
}

private func outcome(
  _ row: AccountImportRow, isKnown: Bool = false
) -> AccountImportAnswer.Outcome {
  AccountImportAnswer.Outcome(row: row, wasKnown: isKnown)
}

private func query(
  _ name: AccountImportName, _ state: AccountImportRow.State, after: Int64 = 0, limit: Int = 100,
  in scopes: [AppScope] = [readerScope, sandboxScope]
) -> AccountImportRowQuery {
  AccountImportRowQuery(name: name, state: state, scopes: scopes, after: after, limit: limit)
}

private func report(
  _ row: AccountImportRow, _ outcome: AccountImportReport.Outcome, lease: String? = nil,
  cursor: String = "", at: Milliseconds
) -> AccountImportReport {
  AccountImportReport(
    of: row, lease: lease ?? row.lease ?? "", outcome, cursor: cursor, at: at)
}

extension EntitlementStore {
  /// All rows are of the import of the first one.
  @discardableResult
  fileprivate func added(
    _ rows: [AccountImportRow], isDryRun: Bool = false
  ) async throws -> [AccountImportAnswer.Outcome] {
    let answer = try await add(
      AccountImportBatch(
        name: rows[0].place.name, rows: rows, at: 1_000, author: "otto", isDryRun: isDryRun))
    guard case .rows(let outcomes) = answer else {
      throw ConformanceFailure("not added: \(answer)", file: #fileID, line: #line)
    }
    return outcomes
  }

  /// The numbers of the rows in each state.
  fileprivate func states(
    of name: AccountImportName
  ) async throws -> [AccountImportRow.State: [Int64]] {
    var states: [AccountImportRow.State: [Int64]] = [:]
    for state in AccountImportRow.State.allCases {
      let rows = try await importRows(query(name, state))
      if !rows.isEmpty { states[state] = rows.map(\.place.number) }
    }
    let summary = try await imports(.named(name)).first
    try expectEqual(
      states.mapValues { Int64($0.count) },
      states.reduce(into: [:]) { $0[$1.key] = summary?.count($1.key) }, "counts")
    return states
  }

  fileprivate func changed(
    _ name: AccountImportName, _ kind: AccountImportChange.Kind, at: Milliseconds,
    in scopes: [AppScope] = [readerScope, sandboxScope]
  ) async throws -> Int? {
    try await change(AccountImportChange(name: name, kind: kind, scopes: scopes, at: at))
  }

  /// In the order of the numbers.
  fileprivate func leasedRows(
    _ lease: String = "lease", at now: Milliseconds, limit: Int = 100,
    scopes: [AppScope] = [readerScope, sandboxScope]
  ) async throws -> [AccountImportRow] {
    try await leaseImportRows(
      AccountImportLease(
        scopes: scopes, now: now, until: now.advanced(by: 30_000), lease: lease, limit: limit)
    ).sorted { $0.place.number < $1.place.number }
  }

  fileprivate func imported(
    _ samples: [TransactionSample], by account: AccountID, under catalog: Catalog
  ) async throws -> CommitReceipt {
    try await commit(
      Submission(
        facts: try samples.map { try $0.signed() }, accountID: account, receivedAt: 5_000,
        catalog: catalog, takesNothing: true))
  }
}

extension Array {
  fileprivate func asyncForEach(_ body: (Element) async throws -> Void) async rethrows {
    for element in self { try await body(element) }
  }
}
