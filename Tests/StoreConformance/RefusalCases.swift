import EntitlementDomain
import EntitlementStore

// Refused claims are kept, within bounds (R91).
extension StoreConformanceSuite {
  private static let keep = PolicySample.catalog(.keep)
  private static let start: Milliseconds = 10_000

  private static func refuse(
    _ number: Int, of claimer: AccountID, at: Milliseconds = start, caller: AuditCaller? = nil,
    in store: any EntitlementStore
  ) async throws {
    let receipt = try await store.commit(
      Submission(
        facts: [TransactionSample("\(number)", "\(number)").signed()], accountID: claimer,
        receivedAt: at, catalog: keep, caller: caller))
    try expectEqual(receipt.links, [.alreadyLinked])
  }

  private static func giveAlice(
    _ numbers: ClosedRange<Int>, in store: any EntitlementStore
  ) async throws {
    try await store.submit(
      numbers.map { try TransactionSample("\($0)", "\($0)").signed() }, by: "alice")
  }

  static let refusalCases = [
    ConformanceCase("A refused claim is in the histories of both sides, with its author (R91)") {
      store, _ in
      try await giveAlice(1...1, in: store)
      var caller = sampleCaller("backend")
      caller.traceID = [UInt8](1...16)
      try await refuse(1, of: "mallory", caller: caller, in: store)
      let key = RefusedClaim.Key(ScopedTarget(readerScope, .chain("1")), by: "mallory")
      let expected = [
        RefusedClaim(key, author: LinkAuthor(caller), traceID: caller.traceID, at: start)
      ]
      try expectEqual(
        try await store.refusedClaims(of: [.chain("1")], by: nil, in: readerScope), expected)
      for account: AccountID in ["alice", "mallory"] {
        try expectEqual(
          try await store.refusedClaims(concerning: account, in: readerScope), expected,
          "\(account)")
      }
      try expectEqual(try await store.refusedClaims(concerning: "bob", in: readerScope), [])
      // It is no step of the link, and makes no account known.
      try expectEqual(try await store.history(of: .chain("1")).count, 1)
      try expectEqual(try await store.accountIDs(), ["alice"])
      let steps = try await store.linkHistory(of: AccountID("alice"), in: readerScope)
        .adding(expected)
      try expectEqual(steps.map(\.event.reason), [.named, .refused])
      try expectEqual(steps.last?.event.to, "mallory")
    },

    ConformanceCase("Of an account and a purchase the last refused claim is kept, once a day (R91)")
    {
      store, _ in
      try await giveAlice(1...1, in: store)
      let day = Milliseconds.dayLength
      for offset in [0, 1, day - 1, day, day + 5] {
        try await refuse(1, of: "mallory", at: start.advanced(by: offset), in: store)
      }
      try expectEqual(
        try await store.refusedClaims(concerning: "mallory", in: readerScope).map(\.at),
        [start.advanced(by: day)])
    },

    ConformanceCase("20 refused claims of a purchase are kept, and 20 of an account (R91)") {
      store, _ in
      try await giveAlice(1...25, in: store)
      for number in 1...25 {
        let at = start.advanced(by: Int64(number))
        try await refuse(1, of: AccountID("thief-\(number)"), at: at, in: store)
        try await refuse(number, of: "mallory", at: at, in: store)
      }
      try expectEqual(
        try await store.refusedClaims(of: [], by: "mallory", in: readerScope).map(\.key.target),
        (6...25).map { ScopedTarget(readerScope, .chain(OriginalTransactionID("\($0)"))) })
      try expectEqual(
        try await store.refusedClaims(of: [.chain("1")], by: nil, in: readerScope)
          .map(\.key.claimer), (6...25).map { AccountID("thief-\($0)") })
      // Those of one moment count, too.
      for number in 1...25 {
        try await refuse(
          2, of: AccountID("thief-\(number)"), at: start.advanced(by: 99), in: store)
      }
      try expectEqual(
        try await store.refusedClaims(of: [.chain("2")], by: nil, in: readerScope).count, 20)
    },

    ConformanceCase("A refused claim is deleted after 90 days, and with its account (R46, R91)") {
      store, _ in
      try await giveAlice(1...3, in: store)
      try await refuse(1, of: "mallory", in: store)
      try await refuse(2, of: "bob", at: start.advanced(by: 1), in: store)
      try await refuse(
        3, of: "carol", at: start.advanced(by: RefusedClaim.lifetime + 1), in: store)
      try expectEqual(
        try await store.refusedClaims(concerning: "alice", in: readerScope).map(\.key.claimer),
        ["bob", "carol"])
      // Bob has nothing else; Carol has.
      try await store.eraseImportRows(naming: "bob", in: readerScope)
      try await store.submit(TransactionSample("9", "9"), by: "carol")
      try await store.done(.delete("carol"))
      try expectEqual(try await store.refusedClaims(concerning: "alice", in: readerScope), [])
    },

    ConformanceCase("A merged account's refused claims are those of the account that remains (R91)")
    {
      store, _ in
      try await giveAlice(1...1, in: store)
      try await store.submit(TransactionSample("9", "9"), by: "mallory")
      try await refuse(1, of: "mallory", in: store)
      try await store.done(.merge("mallory", into: "eve"))
      for account: AccountID in ["mallory", "eve"] {
        try expectEqual(
          try await store.refusedClaims(concerning: account, in: readerScope).count, 1)
      }
      try await store.done(.delete("eve"))
      try expectEqual(
        try await store.refusedClaims(of: [.chain("1")], by: nil, in: readerScope), [])
    },
  ]
}
