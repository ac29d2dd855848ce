import CEntitleMessages
package import EntitlementDomain

/// A notification that was received.
package struct NotificationEntry: Hashable, Sendable {
  package var notificationUUID: NotificationUUID
  /// In Apple's words.
  package var type: String
  /// In Apple's words; nil when there is none.
  package var subtype: String?
  /// When Apple signed it; nil when it does not say.
  package var signedDate: Milliseconds?

  package init(
    notificationUUID: NotificationUUID, type: String, subtype: String? = nil,
    signedDate: Milliseconds? = nil
  ) {
    self.notificationUUID = notificationUUID
    self.type = type
    self.subtype = subtype
    self.signedDate = signedDate
  }
}

extension NotificationEntry: MappedMessage {
  static let shape = MessageShape(entitle__v1__notification_entry__init)

  init(reading message: Entitle__V1__NotificationEntry) {
    notificationUUID = Self.identifier(message.notification_uuid)
    type = Self.text(message.type)
    subtype = Self.optionalText(message.subtype)
    signedDate =
      message.has_signed_date_ms_case.isSet ? Milliseconds(message.signed_date_ms) : nil
  }

  func write(
    to message: inout Entitle__V1__NotificationEntry, in arena: MessageArena
  ) throws(MessageError) {
    message.notification_uuid = try Self.text(notificationUUID, "notification_uuid", in: arena)
    message.type = try Self.text(type, "type", in: arena)
    message.subtype = try Self.text(subtype, "subtype", in: arena)
    if let signedDate {
      message.has_signed_date_ms_case =
        ENTITLE__V1__NOTIFICATION_ENTRY__HAS_SIGNED_DATE_MS_SIGNED_DATE_MS
      message.signed_date_ms = signedDate.rawValue
    }
  }
}
