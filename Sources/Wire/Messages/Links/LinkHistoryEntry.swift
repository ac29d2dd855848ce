import CEntitleMessages
public import EntitlementDomain

/// One step in the history of a link (R41, R46).
public struct LinkHistoryEntry: Hashable, Sendable {
  public var target: LinkTarget
  public var at: Milliseconds
  /// Who had it before; nil when nobody did, or the account was deleted since.
  public var fromAccountID: AccountID?
  /// Who has it since then; nil when nobody does, or the account was deleted since.
  public var toAccountID: AccountID?
  /// The account that had it was deleted since.
  public var isFromDeleted: Bool
  /// The account that got it was deleted since.
  public var isToDeleted: Bool
  /// Nil for a reason that only a newer server knows.
  public var reason: LinkReason?
  /// Who asked for it, in their words; nil when a submission brought it about.
  public var author: String?
  /// Why, in the words of who asked; nil as `author`.
  public var note: String?

  public init(
    target: LinkTarget, at: Milliseconds, fromAccountID: AccountID? = nil,
    toAccountID: AccountID? = nil, isFromDeleted: Bool = false, isToDeleted: Bool = false,
    reason: LinkReason?, author: String? = nil, note: String? = nil
  ) {
    self.target = target
    self.at = at
    self.fromAccountID = fromAccountID
    self.toAccountID = toAccountID
    self.isFromDeleted = isFromDeleted
    self.isToDeleted = isToDeleted
    self.reason = reason
    self.author = author
    self.note = note
  }
}

extension LinkHistoryEntry: MappedMessage {
  static let shape = MessageShape(entitle__v1__link_event__init)

  /// False for a step of something that only a newer server knows of: lists leave it out.
  static func isKnown(_ message: Entitle__V1__LinkEvent) -> Bool {
    message.target.map { LinkTarget.isKnown($0.pointee) } ?? true
  }

  init(reading message: Entitle__V1__LinkEvent) throws(MessageError) {
    target = try Self.required(message.target, as: LinkTarget.self, "target")
    at = Milliseconds(message.at_ms)
    fromAccountID = Self.optionalIdentifier(message.from_account_id)
    toAccountID = Self.optionalIdentifier(message.to_account_id)
    isFromDeleted = message.from_deleted != 0
    isToDeleted = message.to_deleted != 0
    reason = LinkReason(message.reason)
    author = Self.optionalText(message.author)
    note = Self.optionalText(message.note)
  }

  func write(
    to message: inout Entitle__V1__LinkEvent, in arena: MessageArena
  ) throws(MessageError) {
    message.target = try target.make(in: arena)
    message.at_ms = at.rawValue
    message.from_account_id = try Self.text(fromAccountID, "from_account_id", in: arena)
    message.to_account_id = try Self.text(toAccountID, "to_account_id", in: arena)
    message.from_deleted = isFromDeleted ? 1 : 0
    message.to_deleted = isToDeleted ? 1 : 0
    if let reason { message.reason = reason.message }
    message.author = try Self.text(author, "author", in: arena)
    message.note = try Self.text(note, "note", in: arena)
  }
}
