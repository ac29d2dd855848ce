import EntitlementDomain
import EntitlementStore

/// Grant `number` of the suite, for Alice by default.
func sampleGrant(_ number: Int, _ change: (inout Grant) -> Void = { _ in }) -> Grant {
  var grant = Grant(
    id: grantID(number), scope: readerScope, accountID: "alice", entitlementID: "pro",
    starts: 1_000, reason: "a gift", author: "otto", onBehalfOf: "ada", createdAt: 6_000)
  change(&grant)
  return grant
}

/// A caller with a token.
func sampleCaller(_ name: String) -> AuditCaller {
  AuditCaller(peer: "192.0.2.7:41822", name: name, proof: .token, tokenID: "k3Jd8sQz")
}

func grantID(_ number: Int) -> GrantID {
  GrantID("5d0c9f2a-7b1e-4e63-9a44-00000000000\(number)")
}
