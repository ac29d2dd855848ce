import EntitlementDomain
import JSONDocuments
import Wire

/// What happened to an account, in JSON: the fields of `entitle.v1.GetCustomerHistoryResponse`, by
/// the same names; what is absent is left out.
struct CustomerHistoryDocument: Encodable {
  let accountId: String
  let entries: [Entry]

  /// One of a step of a link, a grant, its withdrawal and a notification.
  struct Entry: Encodable {
    let atMs: Int64
    var link: LinkEventDocument?
    var grant: GrantDocument?
    var grantWithdrawal: GrantDocument?
    var notification: Notification?

    init(_ entry: CustomerHistoryEntry) {
      atMs = entry.at.rawValue
      switch entry.occurrence {
      case .link(let event): link = LinkEventDocument(event)
      case .grant(let given): grant = GrantDocument(given)
      case .grantWithdrawal(let ended): grantWithdrawal = GrantDocument(ended)
      case .notification(let told): notification = Notification(told)
      }
    }
  }

  struct Notification: Encodable {
    let notificationUuid: String
    let type: String
    let subtype: String?
    let signedDateMs: Int64?

    init(_ notification: NotificationEntry) {
      notificationUuid = notification.notificationUUID.rawValue
      type = notification.type
      subtype = notification.subtype
      signedDateMs = notification.signedDate?.rawValue
    }
  }

  init(_ history: GetCustomerHistoryResponse) {
    accountId = history.accountID.rawValue
    entries = history.entries.map { Entry($0) }
  }
}
