package import EntitlementDomain
import Synchronization

/// The chain that this process writes, and the last entry that it committed.
///
/// The chain begins with the first audited call. Its id is random, so that no other process writes
/// it. The process therefore knows its head: when the database has an earlier one, a failover lost
/// entries.
package final class AuditTrail: Sendable {
  package let node: String
  /// The random id of the process, for leases.
  package let process = AuditIdentifier.random()
  /// Receives entries after their commit and before their calls are answered. Entries of concurrent
  /// transactions may come in another order than in the chain. May block for a short time.
  private let sink: @Sendable ([AuditEntry]) -> Void
  private let written = Atomic<Int64>(0)
  private let gaps = Atomic<Int64>(0)
  private let state = Mutex(AuditPlace(chain: AuditIdentifier.random(), head: .start))

  package init(
    node: String, sink: @escaping @Sendable ([AuditEntry]) -> Void = { _ in }
  ) {
    self.node = node
    self.sink = sink
  }

  /// The chain, and at least the last entry that was committed when the call began. A transaction
  /// reads it before it locks the head of the chain.
  package var place: AuditPlace { state.withLock { $0 } }

  /// Entries that this process committed, and those of them that tell of a gap.
  package var counts: (entries: Int64, gaps: Int64) {
    (written.load(ordering: .relaxed), gaps.load(ordering: .relaxed))
  }

  /// Entries of one transaction were committed.
  package func committed(_ entries: [AuditEntry]) {
    guard let last = entries.last else { return }
    written.add(Int64(entries.count), ordering: .relaxed)
    gaps.add(
      Int64(entries.count { $0.outcome == AuditOutcome.gap.rawValue }), ordering: .relaxed)
    state.withLock { place in
      if place.chain != last.chain || place.head.position < last.position {
        place = AuditPlace(
          chain: last.chain, head: AuditHead(position: last.position, hash: last.hash))
      }
    }
    sink(entries)
  }
}

/// A chain and its last entry.
package struct AuditPlace: Hashable, Sendable {
  package var chain: String
  package var head: AuditHead

  package init(chain: String, head: AuditHead) {
    self.chain = chain
    self.head = head
  }
}

/// Makes the entries of one transaction.
package struct AuditAppender: Sendable {
  package let node: String
  package private(set) var place: AuditPlace
  package private(set) var entries: [AuditEntry] = []
  /// Whether entries were lost, and the chain is a new one.
  package let isAfterGap: Bool
  /// Stored pseudonyms, with the changes of this transaction.
  private var pseudonyms: [ScopedAccount: String]
  /// New pseudonyms, to be stored.
  package private(set) var added: [ScopedAccount: String] = [:]
  /// Accounts whose stored pseudonyms are deleted, before new ones are stored.
  package private(set) var erased: Set<ScopedAccount> = []

  /// - Parameters:
  ///   - known: the place that the process knew before it locked the stored head.
  ///   - stored: the stored head of that chain.
  ///   - pseudonyms: the stored ones of all accounts of the calls.
  package init(
    node: String, known: AuditPlace, stored: AuditHead, pseudonyms: [ScopedAccount: String],
    at: Milliseconds
  ) throws(StoreError) {
    self.node = node
    self.pseudonyms = pseudonyms
    isAfterGap =
      stored.position < known.head.position
      || (stored.position == known.head.position && stored.hash != known.head.hash)
    guard isAfterGap else {
      place = AuditPlace(chain: known.chain, head: stored)
      return
    }
    // The lost entries cannot be written again: others may have been told of the loss by now.
    place = AuditPlace(chain: AuditIdentifier.random(), head: .start)
    try append(
      AuditEntry(
        chain: place.chain, position: 1, node: node, at: at, peer: AuditCaller.server.peer,
        method: "AuditGap", author: AuditCaller.server.name,
        proof: AuditCaller.server.proof.rawValue,
        subject: "chain \(known.chain) had position \(known.head.position) with hash "
          + "\(known.head.hash), and now ends at position \(stored.position)",
        outcome: AuditOutcome.gap.rawValue, previous: ""))
  }

  package mutating func append(_ call: AuditCall) throws(StoreError) {
    try append(
      AuditEntry(
        chain: place.chain, position: place.head.position + 1, node: node, at: call.at,
        peer: call.caller.peer, method: call.method,
        bundleID: call.scope?.bundleID.rawValue ?? "",
        environment: call.scope?.environment.rawValue ?? "",
        account: pseudonym(of: call.account, in: call.scope),
        formerAccount: pseudonym(of: call.formerAccount, in: call.scope),
        author: call.caller.name, onBehalfOf: call.onBehalfOf, proof: call.caller.proof.rawValue,
        tokenID: call.caller.tokenID, reason: call.reason, subject: call.subject,
        outcome: call.outcome.rawValue, previous: place.head.hash))
    for account in call.erased {
      pseudonyms[account] = nil
      added[account] = nil
      erased.insert(account)
    }
  }

  private mutating func append(_ entry: AuditEntry) throws(StoreError) {
    var entry = entry
    entry.hash = try entry.computedHash()
    place.head = AuditHead(position: entry.position, hash: entry.hash)
    entries.append(entry)
  }

  private mutating func pseudonym(of account: AccountID?, in scope: AppScope?) -> String {
    guard let account, let scope else { return "" }
    let key = ScopedAccount(scope, account)
    if let known = pseudonyms[key] { return known }
    let pseudonym = AuditIdentifier.random()
    pseudonyms[key] = pseudonym
    added[key] = pseudonym
    return pseudonym
  }
}

/// Ids of chains, and pseudonyms.
enum AuditIdentifier {
  /// 128 random bits, as 32 lower-case hexadecimal digits.
  static func random() -> String {
    var generator = SystemRandomNumberGenerator()
    return [generator.next(), generator.next()].map { (word: UInt64) in
      let digits = String(word, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }
}
