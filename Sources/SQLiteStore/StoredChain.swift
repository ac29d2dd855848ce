import EntitlementDomain
import EntitlementStore
import GRDB

/// A row of `chains`.
struct StoredChain {
  let id: Int64
  let scopeID: Int64
  let originalTransactionID: OriginalTransactionID
  /// Row id of the linked account; nil if the chain is not linked.
  let account: Int64?
  /// Sequence number of the latest change as an unlinked chain; 0 when there was none.
  let revision: Int64
  /// When that change was made; nil when there was none.
  let changedAt: Milliseconds?
  /// The link comes from unsigned data, so no other target is linked by it.
  let isLinkUnsigned: Bool
  /// An operator detached the chain from its account, so hints do not link it again.
  let isDetached: Bool
  /// A signed transaction of another chain was once of this one (R55).
  let isFormerChain: Bool
  let standing: LinkStanding

  init(_ row: Row) throws {
    id = row[0]
    scopeID = row[1]
    originalTransactionID = try row.packedIdentifier(2)
    account = row[3]
    revision = row[4]
    changedAt = revision > 0 ? Milliseconds(row[5]) : nil
    isLinkUnsigned = row[6]
    isDetached = row[7]
    isFormerChain = row[8]
    standing = try row.linkStanding(9)
  }
}

extension Row {
  /// - Throws: ``StoreError/Code/corrupt`` for a number that no program writes.
  func linkStanding(_ index: Int) throws -> LinkStanding {
    guard let standing = LinkStanding(rawValue: self[index]) else {
      throw StoreError(.corrupt, "a stored link is of an unknown standing")
    }
    return standing
  }

  /// Decodes a row of the statements that read `account_tokens`.
  func knownToken() throws -> KnownToken {
    guard let state = AccountTokenState(rawValue: self[2]) else {
      throw StoreError(.corrupt, "a stored token is in an unknown state")
    }
    return KnownToken(
      try packedIdentifier(0),
      TokenRow(
        account: identifier(1), state: state, author: self[3],
        onBehalfOf: self[6], note: self[4],
        since: Milliseconds(self[5])))
  }
}

extension LinkReason {
  /// The number of the reason in `link_history`. Numbers do not change.
  var storedNumber: Int {
    switch self {
    case .named: 0
    case .claimed: 1
    case .appAccountToken: 2
    case .appTransaction: 3
    case .previousChain: 4
    case .imported: 5
    case .merged: 6
    case .assigned: 7
    case .unassigned: 8
    case .transferred: 9
    case .deleted: 10
    case .yielded: 11
    case .settled: 12
    case .refused: 13
    }
  }

  /// Nil for a number that no program writes.
  init?(storedNumber: Int) {
    guard let reason = Self.allCases.first(where: { $0.storedNumber == storedNumber }) else {
      return nil
    }
    self = reason
  }
}

extension Database {
  func chain(_ id: OriginalTransactionID, scopeID: Int64) throws -> StoredChain? {
    try row(.findChain, [scopeID, id.packed]).map { try StoredChain($0) }
  }

  func chain(rowID: Int64) throws -> StoredChain? {
    try row(.chainByID, [rowID]).map { try StoredChain($0) }
  }
}
