import EntitlementDomain
import EntitlementStore

// Unsigned facts take nothing from an account, under any policy (R44). An import by an operator
// links chains that have no account.
extension StoreConformanceSuite {
  private static let policies: [LinkPolicy?] = [nil, .transfer, .transferIfInactive, .keep]

  static let unsignedClaimCases = [
    ConformanceCase("Unsigned facts take nothing from another account, under any policy") {
      store, _ in
      for (number, policy) in policies.enumerated() {
        let catalog = PolicySample.catalog(policy)
        let signed = [
          try TransactionSample("\(number)", "\(number)").with { $0.isRevoked = true }.signed(),
          try AppTransactionSample(AppTransactionID("90\(number)")).signed(),
        ]
        try await store.submit(signed, by: "alice", under: catalog)
        let chain = OriginalTransactionID("\(number)")
        let claims = [
          try TransactionSample("5\(number)", chain.rawValue).archived(),
          try RenewalSample(chain).archived(),
          try AppTransactionSample(AppTransactionID("90\(number)")).archived(),
        ]
        let receipt = try await store.submit(
          claims, by: "bob", at: PolicySample.late, under: catalog)
        try expectEqual(receipt.dispositions, [.added, .added, .superseded])
        try expectEqual(receipt.links, [.alreadyLinked, .alreadyLinked, .alreadyLinked])
        try expectEqual(receipt.customers, [], "customers of the answer, without the owner")
        try expectEqual(receipt.changed, [account("alice")])
        try expectEqual(try await store.account(of: chain), "alice")
        try expectEqual(
          try await store.linkHistory(of: .chain(chain), in: readerScope).map(\.reason), [.named])
      }
      try expectEqual(try await store.customer(.account("bob")).record.facts, [])
      try expectEqual(
        try await store.accounts(in: readerScope, after: nil, limit: 9).map(\.accountID), ["alice"])
    },

    ConformanceCase(
      "An import that is refused a purchase does not move the app transaction either"
    ) { store, _ in
      try await store.submit([TransactionSample("1", "1").signed()], by: "alice")
      let archived = [
        try AppTransactionSample("archive:1").archived(),
        try TransactionSample("1", "1").archived(),
      ]
      let receipt = try await store.submit(archived, by: "bob")
      try expectEqual(receipt.links, [.unlinked, .alreadyLinked])
      try expectEqual(try await store.customer(.account("bob")).record.facts, [])
      // The owner of the purchase may import both.
      try expectEqual(
        try await store.submit(archived, by: "alice").links, [.linked, .unchanged])
    },

    ConformanceCase("An import does not take links of another import; a repeat succeeds") {
      store, _ in
      let archived = [
        try TransactionSample("1", "1").archived(),
        try AppTransactionSample("archive:1").archived(),
      ]
      try expectEqual(
        try await store.submit(archived, by: "alice").links, [.linked, .linked])
      try expectEqual(
        try await store.submit(archived, by: "bob").links, [.alreadyLinked, .alreadyLinked])
      try expectEqual(
        try await store.submit(archived, by: "alice").links, [.unchanged, .unchanged])
      try expectEqual(try await store.submit(archived).links, [.unchanged, .unchanged])
      try expectEqual(
        try await store.customer(.account("alice")).factKeys,
        ["appTransaction/archive:1", "transaction/1"])
    },

    ConformanceCase(
      "An import links a chain without an account, and the history names the source"
    ) { store, _ in
      // A purchase signed by Apple, without an account.
      try await store.submit(TransactionSample("1", "1"))
      let receipt = try await store.submit(
        [TransactionSample("2", "1").archived()], by: "alice", at: 70)
      try expectEqual(receipt.links, [.linked])
      try expectEqual(
        try await store.linkHistory(of: .chain("1"), in: readerScope),
        [LinkEvent(from: nil, to: "alice", reason: .imported, at: 70)])
      try expectEqual(
        try await store.customer(.account("alice")).factKeys, ["transaction/1", "transaction/2"])
    },

    ConformanceCase("A signed claim of an imported chain follows the policy") {
      store, _ in
      for (number, policy) in [LinkPolicy.transfer, .keep].enumerated() {
        let catalog = PolicySample.catalog(policy)
        let sample = TransactionSample("\(number)", "\(number)")
        try await store.submit([sample.archived()], by: "alice", under: catalog)
        let receipt = try await store.submit(sample, by: "bob", under: catalog)
        try expectEqual(receipt.links, [policy == .keep ? .alreadyLinked : .transferred])
        try expectEqual(
          try await store.account(of: sample.chain), policy == .keep ? "alice" : "bob")
      }
    },

    ConformanceCase("A claim counts as signed if any of its facts is signed, in any order") {
      store, _ in
      for (number, isSignedFirst) in [true, false].enumerated() {
        let chain = "\(number)"
        try await store.submit(TransactionSample(chain, chain), by: "alice")
        let signed = try TransactionSample("\(number)0", chain).signed()
        let archived = try TransactionSample("\(number)1", chain).archived()
        let receipt = try await store.submit(
          isSignedFirst ? [signed, archived] : [archived, signed], by: "bob")
        try expectEqual(receipt.links, [.transferred, .transferred])
      }
    },

    ConformanceCase("A refused import links only the purchases without an account") {
      store, _ in
      try await store.submit(TransactionSample("1", "1"), by: "alice")
      let document = Array("of two".utf8)
      let receipt = try await store.submit(
        [
          AppTransactionSample("archive:1").archived(document),
          TransactionSample("1", "1").with { $0.appTransaction = "archive:1" }.archived(document),
          TransactionSample("2", "2").with { $0.appTransaction = "archive:1" }.archived(document),
        ], by: "bob")
      try expectEqual(receipt.links, [.unlinked, .alreadyLinked, .linked])
      try expectEqual(receipt.dispositions, [.added, .superseded, .added])
      try expectEqual(
        try await store.customer(.account("bob")).factKeys, ["transaction/2"])
      try expectEqual(try await store.customer(.account("alice")).factKeys, ["transaction/1"])
    },
  ]
}
