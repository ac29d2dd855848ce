import EntitlementDomain
import EntitlementStore
import TestSupport
import Testing

@Suite("Verification of the audit trail (R78)")
struct AuditVerificationTests {
  /// A trail as a store keeps it, and as a person who can write all tables could change it without
  /// computing hashes again.
  struct Trail {
    var entries: [AuditEntry] = []
    var seals: [AuditSeal] = []

    /// - Parameter notedHead: the last seal, noted elsewhere.
    func verification(notedHead: String? = nil) throws -> AuditVerification {
      var verification = AuditVerification(notedHead: notedHead)
      for seal in seals { try verification.add(seal) }
      for entry in entries.sorted(by: { ($0.chain, $0.position) < ($1.chain, $1.position) }) {
        try verification.add(entry)
      }
      verification.finish()
      return verification
    }
  }

  /// Some nodes that write, seal and remove in a random order. All entries are sealed at the end.
  private static func random(_ random: inout SeededRandom) throws -> Trail {
    var trail = Trail()
    var places = (0..<Int.random(in: 1...4, using: &random)).map { _ in
      AuditTrail(node: "node").place
    }
    var removed: [String: AuditHead] = [:]
    var sealed: [String: SealedChain] = [:]
    for step in 0..<Int.random(in: 4...40, using: &random) {
      let index = Int.random(in: places.indices, using: &random)
      if Int.random(in: 0..<4, using: &random) > 0 {
        var appender = try AuditAppender(
          node: "node-\(index)", known: places[index], stored: places[index].head,
          pseudonyms: [:], at: 1)
        try appender.append(call(step, &random))
        places[index] = appender.place
        trail.entries += appender.entries
        continue
      }
      let head = places[index].head
      if Int.random(in: 0..<3, using: &random) == 0, head.position > 0 {
        let chain = places[index].chain
        let last = Int64.random(in: 1...head.position, using: &random)
        if let entry = trail.entries.first(where: { $0.chain == chain && $0.position == last }) {
          removed[chain] = AuditHead(position: last, hash: entry.hash)
          trail.entries.removeAll { $0.chain == chain && $0.position <= last }
        }
      }
      try seal(&trail, places, removed, &sealed)
    }
    try seal(&trail, places, removed, &sealed)
    return trail
  }

  private static func call(_ step: Int, _ random: inout SeededRandom) -> AuditCall {
    AuditCall(
      method: ["AddGrant", "DeleteCustomer", "ReloadCatalog"].randomElement(using: &random) ?? "",
      caller: AuditCaller(
        peer: "192.0.2.\(step)", name: "shop",
        proof: AuditProof.allCases.randomElement(using: &random) ?? .none,
        tokenID: Bool.random(using: &random) ? "k3Jd8sQz" : ""),
      scope: AppScope(bundleID: "com.example.reader", environment: .production),
      account: "alice", formerAccount: Bool.random(using: &random) ? "bob" : nil,
      onBehalfOf: "otto", reason: "reason \(step)", subject: "subject",
      at: Milliseconds(Int64(step)))
  }

  private static func seal(
    _ trail: inout Trail, _ places: [AuditPlace], _ removed: [String: AuditHead],
    _ sealed: inout [String: SealedChain]
  ) throws {
    let chains = places.filter { $0.head.position > 0 }.map {
      SealedChain(chain: $0.chain, head: $0.head, removed: removed[$0.chain] ?? .start)
    }.filter { sealed[$0.chain] != $0 }.sorted { $0.chain < $1.chain }
    if chains.isEmpty { return }
    for chain in chains { sealed[chain.chain] = chain }
    var seal = AuditSeal(
      number: Int64(trail.seals.count) + 1, at: 5, node: "node", chains: chains,
      previous: trail.seals.last?.hash ?? "")
    seal.hash = try seal.computedHash()
    trail.seals.append(seal)
  }

  // MARK: Changes

  /// Changes one text or number of an entry.
  private static func change(_ entry: inout AuditEntry, _ random: inout SeededRandom) {
    switch Int.random(in: 0..<20, using: &random) {
    case 0: entry.chain += "0"
    case 1: entry.position += 1
    case 2: entry.node += "x"
    case 3: entry.at = entry.at.advanced(by: 1)
    case 4: entry.peer = ""
    case 5: entry.method += "x"
    case 6: entry.bundleID += "x"
    case 7: entry.environment = "Sandbox"
    case 8: entry.account = ""
    case 9: entry.formerAccount += "0"
    case 10: entry.author = "olive"
    case 11: entry.reason = ""
    case 12: swap(&entry.author, &entry.reason)
    case 13: entry.onBehalfOf += "x"
    case 14: entry.proof = entry.proof == "none" ? "" : "none"
    case 15: entry.tokenID = entry.tokenID.isEmpty ? "p0Lm2xYw" : ""
    case 16: (entry.onBehalfOf, entry.proof, entry.tokenID) = ("", "", "")
    case 17: swap(&entry.author, &entry.onBehalfOf)
    case 18: entry.previous = String(entry.previous.reversed()) + "0"
    default: entry.hash = String(repeating: "0", count: 64)
    }
  }

  private static func change(_ seal: inout AuditSeal, _ random: inout SeededRandom) {
    switch Int.random(in: 0..<6, using: &random) {
    case 0: seal.at = seal.at.advanced(by: 1)
    case 1: seal.node = ""
    case 2: seal.chains[0].head.hash = seal.hash
    case 3: seal.chains[0].head.position += 1
    case 4: seal.chains[0].removed.position += 1
    default: seal.chains.removeLast()
    }
  }

  /// - Returns: what was done, for the message of a failure; nil for no change.
  private static func damage(_ trail: inout Trail, _ random: inout SeededRandom) -> String? {
    let kind = Int.random(in: 0..<8, using: &random)
    if kind < 5, !trail.entries.isEmpty {
      let index = trail.entries.indices.randomElement(using: &random) ?? 0
      switch kind {
      case 0:
        change(&trail.entries[index], &random)
        return "changed entry \(index)"
      case 1:
        trail.entries.remove(at: index)
        return "deleted entry \(index)"
      case 2:
        let chain = trail.entries[index].chain
        let position = trail.entries[index].position
        trail.entries.removeAll { $0.chain == chain && $0.position >= position }
        return "cut off chain \(chain) before \(position)"
      case 3:
        let other = trail.entries.indices.randomElement(using: &random) ?? 0
        if trail.entries[index].chain != trail.entries[other].chain || index == other { return nil }
        let position = trail.entries[index].position
        trail.entries[index].position = trail.entries[other].position
        trail.entries[other].position = position
        return "exchanged entries \(index) and \(other)"
      default:
        let chain = trail.entries[index].chain
        trail.entries.removeAll { $0.chain == chain }
        return "deleted chain \(chain)"
      }
    }
    let index = trail.seals.indices.randomElement(using: &random) ?? 0
    switch kind {
    case 5:
      change(&trail.seals[index], &random)
      return "changed seal \(index)"
    case 6:
      trail.seals.remove(at: index)
      return "deleted seal \(index)"
    default:
      trail.seals.removeLast(trail.seals.count - index)
      return "cut off the seals before \(index)"
    }
  }

  @Test("Every single change, deletion, exchange and truncation before a noted head is found")
  func damageIsFound() throws {
    var random = SeededRandom(for: "damage of the audit trail")
    for round in Rounds(2_000, of: "damage of the audit trail") {
      let whole = try Self.random(&random)
      guard let head = whole.seals.last?.hash else { continue }
      #expect(try whole.verification(notedHead: head).fault == nil, "round \(round)")
      var trail = whole
      guard let damage = Self.damage(&trail, &random) else { continue }
      let found = try trail.verification(notedHead: head)
      #expect(found.fault != nil, "round \(round): \(damage)")
    }
  }

  @Test("The place of the first break is named")
  func place() throws {
    var appender = try AuditAppender(
      node: "node-1", known: AuditTrail(node: "node-1").place, stored: .start, pseudonyms: [:],
      at: 1)
    var random = SeededRandom(seed: 1)
    for step in 0..<5 { try appender.append(Self.call(step, &random)) }
    var trail = Trail(entries: appender.entries)
    trail.entries[2].reason = "another"
    let chain = appender.place.chain
    let fault = try trail.verification().fault
    #expect(fault?.place == "entry 3 of chain \(chain)")
    #expect(fault?.problem == "its hash is not that of its content")
    trail.entries = appender.entries
    trail.entries.remove(at: 1)
    #expect(try trail.verification().fault?.problem == "entry 2 is missing")
  }

  @Test("Without a noted head, what follows the last seal can be cut off unnoticed")
  func unsealedEnd() throws {
    var appender = try AuditAppender(
      node: "node-1", known: AuditTrail(node: "node-1").place, stored: .start, pseudonyms: [:],
      at: 1)
    var random = SeededRandom(seed: 1)
    for step in 0..<5 { try appender.append(Self.call(step, &random)) }
    let trail = Trail(entries: Array(appender.entries.prefix(3)))
    #expect(try trail.verification().fault == nil)
    #expect(
      try trail.verification(notedHead: appender.place.head.hash).fault?.place == "the noted head")
  }

  @Test("The hash is that of the documented encoding")
  func encoding() throws {
    let entry = AuditEntry(
      chain: "00000000000000000000000000000001", position: 1, node: "node-1",
      at: 1_763_900_000_000, peer: "192.0.2.7:41822", method: "AddGrant",
      bundleID: "com.example.reader", environment: "Production",
      account: "0123456789abcdef0123456789abcdef", author: "otto", reason: "a gift for Zoë",
      subject: "5d0c9f2a-7b1e-4e63-9a44-000000000001", outcome: "changed", previous: "")
    #expect(
      try entry.computedHash()
        == "603783849ea8e62db3f8032614976d079e3334f0f801ef893c08c494e79b5acf")
    var proven = entry
    (proven.onBehalfOf, proven.proof, proven.tokenID) = ("ada", "token", "k3Jd8sQz")
    #expect(
      try proven.computedHash()
        == "1a87a2c237c5a8ab1c26e9fdf1486e840ee4ca2f0bd4494a542312d5289caab7")
    let seal = AuditSeal(
      number: 1, at: 1_763_900_060_000, node: "node-1",
      chains: [
        SealedChain(
          chain: entry.chain, head: AuditHead(position: 1, hash: try entry.computedHash()))
      ], previous: "")
    #expect(
      try seal.computedHash()
        == "37945e570a70ce48977a520bc3af719a0a09d61801a80958dd8973fec1801851")
  }

  @Test("A deletion in the transaction of other calls separates the pseudonyms before and after it")
  func sharedTransaction() throws {
    let scope = AppScope(bundleID: "com.example.reader", environment: .production)
    let alice = ScopedAccount(scope, "alice")
    var appender = try AuditAppender(
      node: "node-1", known: AuditTrail(node: "node-1").place, stored: .start,
      pseudonyms: [alice: "known"], at: 1)
    func call(_ method: String, erasing: Set<ScopedAccount> = []) -> AuditCall {
      AuditCall(
        method: method, caller: .server, scope: scope, account: "alice", at: 1, erased: erasing)
    }
    try appender.append(call("AddGrant"))
    try appender.append(call("DeleteCustomer", erasing: [alice]))
    try appender.append(call("AddGrant"))
    let names = appender.entries.map(\.account)
    #expect(names[0] == "known")
    #expect(names[1] == "known")
    #expect(names[2].count == 32)
    #expect(appender.erased == [alice])
    #expect(appender.added == [alice: names[2]])
  }
}
