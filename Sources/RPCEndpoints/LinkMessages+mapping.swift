import EntitlementDomain
import EntitlementService
import EntitlementStore
import Wire

// Who owns what, in the messages of the wire.

extension LinkResponse {
  init(_ receipt: LinkReceipt) {
    self.init(
      isChanged: receipt.isChanged, targets: receipt.targets,
      customers: receipt.customers.map { SubmittedCustomer($0) })
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
