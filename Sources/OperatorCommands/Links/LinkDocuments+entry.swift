import EntitlementDomain
import JSONDocuments
import Wire

extension LinkDocument {
  init(_ link: AccountLink) {
    self.init(
      target: link.target, since: link.since, reason: link.reason, isUnsigned: link.isUnsigned)
  }
}

extension LinkEventDocument {
  init(_ event: LinkHistoryEntry) {
    self.init(
      target: event.target, at: event.at, from: event.fromAccountID, to: event.toAccountID,
      isFromDeleted: event.isFromDeleted, isToDeleted: event.isToDeleted, reason: event.reason,
      author: event.author, note: event.note)
  }
}
