import CEntitleMessages
package import EntitlementDomain

/// Something that happened to an account.
package struct CustomerHistoryEntry: Hashable, Sendable {
  package enum Occurrence: Hashable, Sendable {
    /// It got or lost a chain or an app transaction.
    case link(LinkHistoryEntry)
    /// It was given an entitlement by an operator.
    case grant(Grant)
    /// An operator ended what was given; the grant has why.
    case grantWithdrawal(Grant)
    /// Apple told something of one of its chains.
    case notification(NotificationEntry)
  }

  /// When the server learned of it.
  package var at: Milliseconds
  package var occurrence: Occurrence

  package init(at: Milliseconds, occurrence: Occurrence) {
    self.at = at
    self.occurrence = occurrence
  }
}

extension CustomerHistoryEntry: MappedMessage {
  static let shape = MessageShape(entitle__v1__history_entry__init)

  /// False for what only a newer server tells of: lists leave it out.
  static func isKnown(_ message: Entitle__V1__HistoryEntry) -> Bool {
    if message.what_case == ENTITLE__V1__HISTORY_ENTRY__WHAT_LINK {
      return message.link.map { LinkHistoryEntry.isKnown($0.pointee) } ?? true
    }
    return message.what_case.isSet
  }

  init(reading message: Entitle__V1__HistoryEntry) throws(MessageError) {
    at = Milliseconds(message.at_ms)
    switch message.what_case {
    case ENTITLE__V1__HISTORY_ENTRY__WHAT_LINK:
      occurrence = .link(try Self.required(message.link, as: LinkHistoryEntry.self, "link"))
    case ENTITLE__V1__HISTORY_ENTRY__WHAT_GRANT:
      occurrence = .grant(try Self.required(message.grant, as: Grant.self, "grant"))
    case ENTITLE__V1__HISTORY_ENTRY__WHAT_GRANT_WITHDRAWAL:
      occurrence = .grantWithdrawal(
        try Self.required(message.grant_withdrawal, as: Grant.self, "grant_withdrawal"))
    case ENTITLE__V1__HISTORY_ENTRY__WHAT_NOTIFICATION:
      occurrence = .notification(
        try Self.required(message.notification, as: NotificationEntry.self, "notification"))
    default:
      throw Self.error(.missing(field: "what"))
    }
  }

  func write(
    to message: inout Entitle__V1__HistoryEntry, in arena: MessageArena
  ) throws(MessageError) {
    message.at_ms = at.rawValue
    switch occurrence {
    case .link(let link):
      message.link = try link.make(in: arena)
      message.what_case = ENTITLE__V1__HISTORY_ENTRY__WHAT_LINK
    case .grant(let grant):
      message.grant = try grant.make(in: arena)
      message.what_case = ENTITLE__V1__HISTORY_ENTRY__WHAT_GRANT
    case .grantWithdrawal(let grant):
      message.grant_withdrawal = try grant.make(in: arena)
      message.what_case = ENTITLE__V1__HISTORY_ENTRY__WHAT_GRANT_WITHDRAWAL
    case .notification(let notification):
      message.notification = try notification.make(in: arena)
      message.what_case = ENTITLE__V1__HISTORY_ENTRY__WHAT_NOTIFICATION
    }
  }
}
