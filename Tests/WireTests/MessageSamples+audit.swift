import EntitlementDomain

@testable import Wire

extension MessageSample {
  static let audits: [MessageSample] = [
    MessageSample(
      "full", ListAuditEntriesResponse(entries: [.full, .bare], nextPageToken: "1:a:2")),
    MessageSample("bare", ListAuditEntriesResponse(entries: [], nextPageToken: nil)),
    MessageSample(
      "full",
      ListAuditEntriesRequest(
        app: "com.example.scribe", appEnvironment: "Sandbox",
        accountID: "émile", method: "AddGrant", author: "otto", from: 0,
        until: 1_800_000_000_000, isByChain: true, pageSize: 1_000, pageToken: "1:a:2",
        onBehalfOf: "ada")),
    MessageSample("bare", ListAuditEntriesRequest()),
    MessageSample("full", ListAuditSealsRequest(afterNumber: 41, pageSize: 1_000)),
    MessageSample("bare", ListAuditSealsRequest()),
    MessageSample("full", ListAuditSealsResponse(seals: [.full])),
    MessageSample("bare", ListAuditSealsResponse(seals: [])),
  ]
}

extension AuditedCallEntry {
  static let full = AuditedCallEntry(
    chain: "0123456789abcdef0123456789abcdef", position: 7, node: "node-1",
    at: 1_700_000_000_123, peer: "192.0.2.7:41822", method: "TransferPurchase",
    app: "com.example.scribe", appEnvironment: "Sandbox",
    account: "00112233445566778899aabbccddeeff", formerAccount: "ffeeddccbbaa99887766554433221100",
    author: "otto", reason: "a ticket", subject: "s", outcome: "changed",
    previousHash: String(repeating: "0", count: 64), hash: String(repeating: "f", count: 64),
    onBehalfOf: "ada", proof: "token", tokenID: "k3Jd8sQz")

  static let bare = AuditedCallEntry(
    chain: "c", position: 1, node: "n", at: 0, peer: "server", method: "ReloadCatalog",
    outcome: "changed", hash: "h")
}

extension AuditSealEntry {
  static let full = AuditSealEntry(
    number: 12, at: 1_700_000_000_123, node: "node-1",
    chains: [
      AuditSealedChainEntry(
        chain: "0123456789abcdef0123456789abcdef", position: 7,
        hash: String(repeating: "f", count: 64), removedPosition: 3,
        removedHash: String(repeating: "0", count: 64)),
      AuditSealedChainEntry(chain: "c", position: 1, hash: "h", removedPosition: 0),
    ], previousHash: String(repeating: "1", count: 64), hash: String(repeating: "2", count: 64))
}
