import EntitlementDomain
import EntitlementStore

// Several names, or a return after a deletion, give an account no additional claims (R44).
extension StoreConformanceSuite {
  private static let start: Milliseconds = 10_000
  private static let end = start.advanced(by: Milliseconds.dayLength)
  private static let visitor: AccountID = "anonymous:1"

  static let keptClaimCases = [
    ConformanceCase(
      "The claims of an anonymous account count for the account it merges into (R44, R75)"
    ) { store, _ in
      try await giveAlice(1...8, in: store)
      try await store.submit(TransactionSample("9", "9"), by: visitor)
      for number in 1...2 { try await expectClaim(number, by: visitor, .transferred, in: store) }
      // One claim of his own, and the two of the merged account: three of three.
      try await expectClaim(8, by: "bob", .transferred, in: store)
      try await store.submit(TransactionSample("9", "9"), by: "bob", anonymous: visitor)
      try expectEqual(try await store.customer(.account(visitor)).subject, account("bob"))
      for name: AccountID in ["bob", visitor] {
        try await expectClaim(3, by: name, .claimLimited, in: store)
      }
      // A day after the first claim of either account.
      try await expectClaim(3, by: "bob", .claimLimited, at: end.advanced(by: -1), in: store)
      try await expectClaim(3, by: "bob", .transferred, at: end, in: store)
    },

    ConformanceCase(
      "A merge by name adds up the claims of both, and is itself no claim (R44, R46)"
    ) { store, _ in
      try await giveAlice(1...8, in: store)
      try await expectClaim(1, by: "bob", .transferred, in: store)
      let later = start.advanced(by: 1_000)
      try await expectClaim(2, by: "carol", .transferred, at: later, in: store)
      try await store.done(.merge("bob", into: "carol"), at: later)
      try await expectClaim(3, by: "carol", .transferred, at: later, in: store)
      try await expectClaim(4, by: "bob", .claimLimited, at: later, in: store)
      try await expectClaim(4, by: "carol", .transferred, at: end, in: store)
    },

    ConformanceCase("A merge takes no expired claims along (R44)") { store, _ in
      try await giveAlice(1...8, in: store)
      for number in 1...3 { try await expectClaim(number, by: "bob", .transferred, in: store) }
      try await store.done(.merge("bob", into: "carol"), at: end)
      for number in 4...6 {
        try await expectClaim(number, by: "carol", .transferred, at: end, in: store)
      }
      try await expectClaim(7, by: "carol", .claimLimited, at: end, in: store)
    },

    ConformanceCase("A deletion keeps the claim counts of all its names (R44, R46)") {
      store, _ in
      try await giveAlice(1...8, in: store)
      try await expectClaim(1, by: visitor, .transferred, in: store)
      try await store.done(.merge(visitor, into: "bob"), at: start)
      for number in 2...3 { try await expectClaim(number, by: "bob", .transferred, in: store) }
      try await store.done(.delete("bob"), at: start)
      for name: AccountID in ["bob", visitor] {
        try await expectClaim(4, by: name, .claimLimited, in: store)
        // It comes back with an unlinked chain.
        try await store.submit(
          TransactionSample("9", "9"), by: name, at: start, under: catalog)
        try await expectClaim(4, by: name, .claimLimited, in: store)
        try await store.done(.unlink(.chain("9")), at: start)
      }
      try await expectClaim(4, by: "bob", .transferred, at: end, in: store)
    },

    ConformanceCase("Expired claims are removed with a deletion (R44, R46)") { store, _ in
      try await giveAlice(1...8, in: store)
      for number in 1...3 { try await expectClaim(number, by: "bob", .transferred, in: store) }
      try await store.done(.delete("bob"), at: end)
      for number in 4...6 {
        try await expectClaim(number, by: "bob", .transferred, at: end, in: store)
      }
    },
  ]

  private static var catalog: Catalog {
    var catalog = PolicySample.catalog(.transfer)
    catalog.apps[readerScope.bundleID]?.claimsPerDay = 3
    return catalog
  }

  private static func giveAlice(_ numbers: ClosedRange<Int>, in store: any EntitlementStore)
    async throws
  {
    try await store.submit(
      numbers.map { try TransactionSample("\($0)", "\($0)").signed() }, by: "alice")
  }

  private static func expectClaim(
    _ number: Int, by claimer: AccountID, _ outcome: LinkOutcome, at: Milliseconds = start,
    in store: any EntitlementStore, line: UInt = #line
  ) async throws {
    let receipt = try await store.submit(
      TransactionSample("\(number)", "\(number)"), by: claimer, at: at, under: catalog)
    try expectEqual(
      receipt.links, [outcome], "claim of \(number) by \(claimer), line \(line)")
  }
}
