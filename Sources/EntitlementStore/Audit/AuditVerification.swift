/// Recomputes the chains and the seals of an audit trail (R78). Seals come first, in the order of
/// their numbers, then the entries of each chain in order, the chains in the order of their ids.
///
/// It proves that the trail is whole up to the last seal: a seal names the head of each chain. After
/// it, entries that were cut off at the end of a chain cannot be missed. Without a head that was
/// noted elsewhere, it does not stop a person who can write all tables: all hashes can be computed
/// again.
package struct AuditVerification: Sendable {
  /// What was found at first: later places follow from it.
  package private(set) var fault: Fault?
  package private(set) var entryCount = 0
  package private(set) var removedCount: Int64 = 0
  package private(set) var chainCount = 0
  /// The subjects of entries about gaps.
  package private(set) var gaps: [AuditEntry] = []
  /// The last seal; nil when there is none.
  package private(set) var lastSeal: AuditSeal?
  /// The hash that must be found; nil when none was noted.
  private let notedHead: String?
  private var hasNotedHead = false

  /// What seals say of a chain.
  private struct Claims {
    /// Hashes of positions.
    var heads: [Int64: String] = [:]
    var last = AuditHead.start
    var removed = AuditHead.start
  }

  private var claims: [String: Claims] = [:]
  private var chain: String?
  private var head = AuditHead.start

  /// A break of a chain.
  package struct Fault: Error, Hashable, Sendable {
    /// Such as `entry 7 of chain …` or `seal 12`.
    package var place: String
    package var problem: String
  }

  /// - Parameter notedHead: the hash of an entry or of a seal.
  package init(notedHead: String? = nil) {
    self.notedHead = notedHead
  }

  package mutating func add(_ seal: AuditSeal) throws(StoreError) {
    guard fault == nil else { return }
    let place = "seal \(seal.number)"
    guard seal.number == (lastSeal?.number ?? 0) + 1 else {
      return fail(place, "seal \((lastSeal?.number ?? 0) + 1) is missing")
    }
    guard seal.previous == lastSeal?.hash ?? "" else {
      return fail(place, "it does not follow from the seal before it")
    }
    guard try seal.computedHash() == seal.hash else {
      return fail(place, "its hash is not that of its content")
    }
    lastSeal = seal
    note(seal.hash)
    for sealed in seal.chains {
      var known = claims[sealed.chain] ?? Claims()
      guard sealed.head.position >= known.last.position,
        sealed.removed.position >= known.removed.position,
        sealed.removed.position <= sealed.head.position
      else { return fail(place, "chain \(sealed.chain) is shorter than in an earlier seal") }
      known.last = sealed.head
      known.heads[sealed.head.position] = sealed.head.hash
      known.removed = sealed.removed
      if sealed.removed.position > 0 {
        known.heads[sealed.removed.position] = sealed.removed.hash
      }
      claims[sealed.chain] = known
    }
  }

  package mutating func add(_ entry: AuditEntry) throws(StoreError) {
    guard fault == nil else { return }
    if entry.chain != chain {
      endChain()
      if let chain, entry.chain <= chain {
        return fail("chain \(entry.chain)", "it is not in the order of the chains")
      }
      chain = entry.chain
      chainCount += 1
      head = claims[entry.chain]?.removed ?? .start
      removedCount += head.position
      guard fault == nil else { return }
    }
    let place = "entry \(entry.position) of chain \(entry.chain)"
    guard entry.position == head.position + 1 else {
      return fail(place, "entry \(head.position + 1) is missing")
    }
    guard entry.previous == head.hash else {
      return fail(place, "it does not follow from the entry before it")
    }
    guard try entry.computedHash() == entry.hash else {
      return fail(place, "its hash is not that of its content")
    }
    if let sealed = claims[entry.chain]?.heads[entry.position], sealed != entry.hash {
      return fail(place, "a seal has another hash for it")
    }
    head = AuditHead(position: entry.position, hash: entry.hash)
    entryCount += 1
    note(entry.hash)
    if entry.outcome == AuditOutcome.gap.rawValue { gaps.append(entry) }
  }

  /// Call it after the last entry.
  package mutating func finish() {
    guard fault == nil else { return }
    endChain()
    // Chains without an entry that is left.
    for (chain, claim) in claims.sorted(by: { $0.key < $1.key }) where fault == nil {
      removedCount += claim.removed.position
      chainCount += 1
      if claim.removed.position < claim.last.position {
        fail(
          "entry \(claim.removed.position + 1) of chain \(chain)",
          "the chain has no entries, and a seal names \(claim.last.position)")
      }
    }
    if fault == nil, notedHead != nil, !hasNotedHead {
      fail("the noted head", "no entry and no seal has this hash")
    }
  }

  /// Checks that the chain reaches what was sealed.
  private mutating func endChain() {
    guard let chain, fault == nil else { return }
    if let claim = claims.removeValue(forKey: chain), head.position < claim.last.position {
      fail(
        "entry \(head.position + 1) of chain \(chain)",
        "the chain ends before it, and a seal names \(claim.last.position) entries")
    }
  }

  private mutating func note(_ hash: String) {
    if hash == notedHead { hasNotedHead = true }
  }

  private mutating func fail(_ place: String, _ problem: String) {
    fault = Fault(place: place, problem: problem)
  }
}
