import EntitlementDomain
import EntitlementStore
import GRDB

extension Database {
  /// What an account owns: chains before app transactions, then by id.
  func links(ofAccount account: Int64) throws -> [LinkedTarget] {
    let chains = try rows(.chainLinksOfAccount, [account]).map { row in
      try Self.linkedTarget(.chain(row.identifier(0)), row)
    }
    let appTransactions = try rows(.appTransactionLinksOfAccount, [account]).map { row in
      try Self.linkedTarget(.appTransaction(row.identifier(0)), row)
    }
    return chains + appTransactions
  }

  private static func linkedTarget(_ target: LinkTarget, _ row: Row) throws -> LinkedTarget {
    LinkedTarget(
      target: target, isUnsigned: row[1], since: Milliseconds(row[2]),
      reason: try reason(row, at: 3))
  }

  func linkHistory(of target: LinkTarget, scopeID: Int64) throws -> [LinkEvent] {
    let rows =
      switch target {
      case .chain(let id): try rows(.historyOfChain, [scopeID, id.stored])
      case .appTransaction(let id): try rows(.historyOfAppTransaction, [scopeID, id.stored])
      }
    return try rows.map { try Self.linkEvent($0) }
  }

  /// What concerned an account, or one that was merged into it, oldest first.
  func linkHistory(of account: StoredAccount) throws -> [TargetLinkEvent] {
    var events: [Int64: TargetLinkEvent] = [:]
    let merged: [Int64] = try rows(.mergedAccounts, [account.id]).map { $0[0] }
    for id in [account.id] + merged {
      for row in try rows(.historyOfAccount, [id, id]) {
        events[row[8]] = TargetLinkEvent(
          target: try Self.target(row), event: try Self.linkEvent(row))
      }
    }
    return events.sorted { $0.key < $1.key }.map(\.value)
  }

  /// - Parameter row: of ``StoreStatement/historyOfAccount``.
  private static func target(_ row: Row) throws -> LinkTarget {
    if let chain: OriginalTransactionID = row.identifier(9) { return .chain(chain) }
    if let appTransaction: AppTransactionID = row.identifier(10) {
      return .appTransaction(appTransaction)
    }
    throw StoreError(.corrupt, "a stored link event concerns nothing")
  }

  /// - Parameter row: of a statement that reads `link_history`.
  private static func linkEvent(_ row: Row) throws -> LinkEvent {
    LinkEvent(
      from: row.identifier(0), to: row.identifier(1), isFromErased: row[6], isToErased: row[7],
      reason: try reason(row, at: 2), author: row[4], note: row[5], at: Milliseconds(row[3]))
  }

  private static func reason(_ row: Row, at index: Int) throws -> LinkReason {
    guard let reason = LinkReason(rawValue: row[index]) else {
      throw StoreError(.corrupt, "a stored link event has an unknown reason")
    }
    return reason
  }
}
