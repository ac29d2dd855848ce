import Cryptography
package import EntitlementDomain

/// An entry of the audit trail: one call, in the chain of the process that served it.
///
/// Entries hold no id of a customer, neither ours nor Apple's (R77).
package struct AuditEntry: Hashable, Sendable {
  /// The random id of the chain. Each run of a server writes a chain of its own, so that two servers
  /// with one name cannot fork one.
  package var chain: String
  /// The position in the chain, from 1.
  package var position: Int64
  /// The `node_name` of the server.
  package var node: String
  package var at: Milliseconds
  package var peer: String
  package var method: String
  /// Empty for a call about the server as a whole; so is the environment.
  package var bundleID: String
  package var environment: String
  /// A pseudonym; empty when no account is concerned.
  package var account: String
  package var formerAccount: String
  /// The name of the authenticated caller.
  package var author: String
  /// Free text of the caller; empty when it names nobody.
  package var onBehalfOf: String
  /// An ``AuditProof``.
  package var proof: String
  package var tokenID: String
  package var reason: String
  package var subject: String
  package var outcome: String
  /// The hash of the entry before it in the chain; empty for the first one.
  package var previous: String
  package var hash: String

  package init(
    chain: String, position: Int64, node: String, at: Milliseconds, peer: String, method: String,
    bundleID: String = "", environment: String = "", account: String = "",
    formerAccount: String = "", author: String = "", onBehalfOf: String = "", proof: String = "",
    tokenID: String = "", reason: String = "", subject: String = "", outcome: String,
    previous: String, hash: String = ""
  ) {
    self.chain = chain
    self.position = position
    self.node = node
    self.at = at
    self.peer = peer
    self.method = method
    self.bundleID = bundleID
    self.environment = environment
    self.account = account
    self.formerAccount = formerAccount
    self.author = author
    self.onBehalfOf = onBehalfOf
    self.proof = proof
    self.tokenID = tokenID
    self.reason = reason
    self.subject = subject
    self.outcome = outcome
    self.previous = previous
    self.hash = hash
  }

  /// The hash that the entry must have (R78).
  ///
  /// - Throws: ``StoreError/Code/internalFault`` when hashing fails.
  package func computedHash() throws(StoreError) -> String {
    try AuditDigest.hash([
      "entitle-audit-entry-1", previous, chain, String(position), node, String(at.rawValue), peer,
      method, bundleID, environment, account, formerAccount, author, onBehalfOf, proof, tokenID,
      reason, subject, outcome,
    ])
  }
}

/// The last entry of a chain.
package struct AuditHead: Hashable, Sendable {
  package var position: Int64
  package var hash: String

  package init(position: Int64, hash: String) {
    self.position = position
    self.hash = hash
  }

  /// Before the first entry.
  package static let start = AuditHead(position: 0, hash: "")
}

/// A seal over the chains that grew, or were shortened, since the seal before it. Seals are a chain
/// too, and are never removed.
package struct AuditSeal: Hashable, Sendable {
  /// From 1, without holes.
  package var number: Int64
  package var at: Milliseconds
  /// The node that wrote it.
  package var node: String
  /// In the order of their ids.
  package var chains: [SealedChain]
  /// The hash of the seal before it; empty for the first one.
  package var previous: String
  package var hash: String

  package init(
    number: Int64, at: Milliseconds, node: String, chains: [SealedChain], previous: String,
    hash: String = ""
  ) {
    self.number = number
    self.at = at
    self.node = node
    self.chains = chains
    self.previous = previous
    self.hash = hash
  }

  /// The hash that the seal must have (R78).
  ///
  /// - Throws: ``StoreError/Code/internalFault`` when hashing fails.
  package func computedHash() throws(StoreError) -> String {
    var fields = [
      "entitle-audit-seal-1", previous, String(number), String(at.rawValue), node,
    ]
    for chain in chains {
      fields += [
        chain.chain, String(chain.head.position), chain.head.hash,
        String(chain.removed.position), chain.removed.hash,
      ]
    }
    return try AuditDigest.hash(fields)
  }

  /// The most chains of one seal, so that it fits a message. Further chains are in the next seal.
  package static let maximumChains = 1_000
  /// The most entries that one seal removes from a chain, so that its transaction stays short.
  package static let maximumRemoved: Int64 = 10_000
  /// The oldest entries that are looked at for one seal. They are of at most as many chains.
  package static let maximumOldest = 500
}

/// What a seal says of a chain.
package struct SealedChain: Hashable, Sendable {
  package var chain: String
  package var head: AuditHead
  /// The last entry that retention removed; ``AuditHead/start`` when all are there.
  package var removed: AuditHead

  package init(chain: String, head: AuditHead, removed: AuditHead = .start) {
    self.chain = chain
    self.head = head
    self.removed = removed
  }
}

/// Selects entries of the audit trail.
package struct AuditQuery: Hashable, Sendable {
  /// The place of an entry in the order of a query.
  package struct Place: Hashable, Sendable {
    package var at: Milliseconds
    package var chain: String
    package var position: Int64

    package init(at: Milliseconds, chain: String, position: Int64) {
      self.at = at
      self.chain = chain
      self.position = position
    }

    /// Before every entry.
    package static let start = Place(at: Milliseconds(.min), chain: "", position: 0)
  }

  /// Whether entries are in the order of their chains, and not of their moments.
  package var isByChain: Bool
  package var after: Place
  package var limit: Int
  package var scope: AppScope?
  /// Needs a scope. A merged account is the one that it was merged into.
  package var account: AccountID?
  package var method: String?
  /// The name of an authenticated caller.
  package var author: String?
  package var onBehalfOf: String?
  /// From this moment, and before the other; nil: no bound.
  package var from: Milliseconds?
  package var until: Milliseconds?

  package init(
    isByChain: Bool = false, after: Place = .start, limit: Int, scope: AppScope? = nil,
    account: AccountID? = nil, method: String? = nil, author: String? = nil,
    onBehalfOf: String? = nil, from: Milliseconds? = nil, until: Milliseconds? = nil
  ) {
    self.isByChain = isByChain
    self.after = after
    self.limit = limit
    self.scope = scope
    self.account = account
    self.method = method
    self.author = author
    self.onBehalfOf = onBehalfOf
    self.from = from
    self.until = until
  }
}

/// The hash of a list of texts.
enum AuditDigest {
  /// SHA-256, in lower-case hexadecimal digits, of each text in UTF-8 after its length in bytes as
  /// four bytes, the most significant first. The lengths keep the texts apart.
  static func hash(_ fields: [String]) throws(StoreError) -> String {
    var bytes: [UInt8] = []
    for field in fields {
      let text = Array(field.utf8)
      withUnsafeBytes(of: UInt32(clamping: text.count).bigEndian) { bytes += $0 }
      bytes += text
    }
    do throws(CryptographyError) {
      return try SHA256.digest(of: bytes).hexadecimal
    } catch {
      throw StoreError(.internalFault, "an entry of the audit trail cannot be hashed")
    }
  }
}
