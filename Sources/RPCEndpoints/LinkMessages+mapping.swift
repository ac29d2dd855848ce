import EntitlementDomain
import EntitlementService
import EntitlementStore
import Wire

// Who owns what, in the messages of the wire.

extension LinkResponse {
  /// At most ``LinkLimits/told`` of each: the first of what changed hands, and of the customers the
  /// accounts before the chains, which are told in the order of the feed while there are few.
  init(_ receipt: LinkReceipt) {
    var customers = receipt.customers
    if customers.count > LinkLimits.told {
      customers = customers.filter(\.isAccount) + customers.filter { !$0.isAccount }
    }
    self.init(
      isChanged: receipt.isChanged, targets: Array(receipt.targets.prefix(LinkLimits.told)),
      customers: customers.prefix(LinkLimits.told).map { SubmittedCustomer($0) })
  }
}

extension CustomerRevision {
  fileprivate var isAccount: Bool {
    if case .account = subject { true } else { false }
  }
}

extension AccountLink {
  init(_ link: LinkedTarget) {
    self.init(
      target: link.target, since: link.since, reason: link.reason, isUnsigned: link.isUnsigned)
  }
}

extension LinkHistoryEntry {
  init(_ step: TargetLinkEvent) {
    let event = step.event
    self.init(
      target: step.target, at: event.at, fromAccountID: event.from, toAccountID: event.to,
      isFromDeleted: event.isFromErased, isToDeleted: event.isToErased, reason: event.reason,
      author: event.author, note: event.note)
  }
}

extension CustomerHistoryEntry {
  init(_ entry: CustomerHistory.Entry) {
    let occurrence: Occurrence =
      switch entry.occurrence {
      case .link(let step): .link(LinkHistoryEntry(step))
      case .grant(let grant): .grant(grant)
      case .grantWithdrawal(let grant): .grantWithdrawal(grant)
      case .notification(let record): .notification(NotificationEntry(record))
      }
    self.init(at: entry.at, occurrence: occurrence)
  }
}

extension NotificationEntry {
  init(_ record: NotificationRecord) {
    self.init(
      notificationUUID: record.uuid, type: record.type, subtype: record.subtype,
      signedDate: record.signedDate)
  }
}

extension UnlinkedChainEntry {
  init(_ chain: UnlinkedChain) {
    self.init(
      originalTransactionID: chain.chain, revision: chain.revision, changedAt: chain.changedAt)
  }
}
