import EntitlementDomain
package import EntitlementStore

/// Links and tokens as earlier versions left them, for tests of the migration that knows what they
/// rest on (R70, R71).
package enum OwnershipArchive {
  /// Three customers: Bob shares a token and an app transaction with Alice, and claimed a purchase of
  /// Carol.
  package static func fill(_ store: any EntitlementStore) async throws {
    for (chain, hint, account): (String, Int, AccountID) in [
      ("1", 1, "alice"), ("2", 1, "bob"), ("3", 3, "carol"), ("4", 4, "alice"), ("3", 3, "bob"),
    ] {
      try await store.submit(
        TransactionSample(chain, chain).with {
          $0.token = token(hint)
          $0.appTransaction = hint == 1 ? "900" : nil
        }, by: account)
    }
  }

  package static func check(_ store: any EntitlementStore) async throws {
    // Alice has two chains, which are counted (R68).
    var catalog = PolicySample.catalog(.keep)
    catalog.apps[readerScope.bundleID]?.chainsPerAccount = 2
    let receipt = try await store.submit(
      TransactionSample("20", "20"), by: "alice", under: catalog)
    try expectEqual(receipt.links, [.accountFull])
    let ambiguous = [
      KnownToken(token(1), TokenRow(account: "alice", state: .ambiguous)),
      KnownToken(token(3), TokenRow(account: "carol", state: .ambiguous)),
    ]
    try expectEqual(try await store.tokens(of: nil), ambiguous)
    try expectEqual(
      try await store.tokens(of: "alice"),
      [ambiguous[0], KnownToken(token(4), TokenRow(account: "alice", state: .learned))])
    for (account, contested): (AccountID, [LinkTarget]) in [
      ("alice", [.appTransaction("900")]), ("bob", [.chain("3")]), ("carol", []),
    ] {
      let links = try await store.links(of: account, in: readerScope)
      try expectEqual(links.filter(\.isContested).map(\.target), contested, account.rawValue)
    }
    for (number, owner): (Int, AccountID?) in [(1, nil), (3, nil), (4, "alice")] {
      try await store.submit(
        TransactionSample("1\(number)", "1\(number)").with {
          $0.token = token(number)
        })
      try expectEqual(
        try await store.account(of: OriginalTransactionID("1\(number)")), owner, "token \(number)")
    }
  }
}
