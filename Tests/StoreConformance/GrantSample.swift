import EntitlementDomain

/// Grant `number` of the suite, for Alice by default.
func sampleGrant(_ number: Int, _ change: (inout Grant) -> Void = { _ in }) -> Grant {
  var grant = Grant(
    id: grantID(number), scope: readerScope, accountID: "alice", entitlementID: "pro",
    starts: 1_000, reason: "a gift", author: "otto", createdAt: 6_000)
  change(&grant)
  return grant
}

func grantID(_ number: Int) -> GrantID {
  GrantID("5d0c9f2a-7b1e-4e63-9a44-00000000000\(number)")
}
