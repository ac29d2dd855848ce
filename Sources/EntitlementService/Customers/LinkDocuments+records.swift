import EntitlementStore
import JSONDocuments

extension LinkDocument {
  init(_ link: LinkedTarget) {
    self.init(
      target: link.target, since: link.since, reason: link.reason, isUnsigned: link.isUnsigned)
  }
}

extension LinkEventDocument {
  init(_ step: TargetLinkEvent) {
    let event = step.event
    self.init(
      target: step.target, at: event.at, from: event.from, to: event.to,
      isFromDeleted: event.isFromErased, isToDeleted: event.isToErased, reason: event.reason,
      author: event.author, note: event.note)
  }
}
