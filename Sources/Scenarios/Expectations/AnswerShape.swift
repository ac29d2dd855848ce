import EntitlementDomain
import Wire

/// What an answer may hold: the names that an expectation may use, and the form of their values. Of
/// messages it is what `Protos/` say.
indirect enum AnswerShape: Sendable {
  case text
  case integer
  case boolean
  /// In milliseconds; written as a moment.
  case moment
  /// One of these names.
  case enumeration([String])
  case object([String: AnswerShape])
  /// A list of values, which is expected as a whole.
  case values(AnswerShape)
  /// A list of objects that is compared by position.
  case list(AnswerShape)
  /// A list of objects that are told apart by one of their members.
  case keyed(by: String, AnswerShape)
  /// A mapping of any ids to rules.
  case rules

  static let state = AnswerShape(CustomerState.messageType)
  /// What became of a submission by an app.
  static let submission = AnswerShape(SubmitSignedTransactionsResponse.messageType)
  /// What became of a notification.
  static let notification = AnswerShape(SubmitNotificationResponse.messageType)
  /// Which rule decided, by id.
  static let explanation = AnswerShape.object(["entitlements": .rules, "groups": .rules])

  /// The members by which messages of a list are told apart; others are compared by position.
  private static let keys = [
    "entitle.v1.EntitlementState": "entitlementId", "entitle.v1.ProductState": "productId",
    "entitle.v1.GroupState": "groupId", "entitle.v1.GrandfatheringState": "ruleId",
  ]

  private init(_ message: MessageType) {
    self = .object(
      Dictionary(uniqueKeysWithValues: message.fields.map { ($0.name, AnswerShape($0)) }))
  }

  private init(_ field: MessageField) {
    let one: AnswerShape =
      switch field.kind {
      case .text, .floatingPoint: .text
      case .integer: field.name.hasSuffix("Ms") ? .moment : .integer
      case .boolean: .boolean
      case .enumeration(let names): .enumeration(names)
      case .message(let message): AnswerShape(message)
      }
    guard field.isRepeated else {
      self = one
      return
    }
    guard case .message(let message) = field.kind else {
      self = .values(one)
      return
    }
    self = Self.keys[message.name].map { .keyed(by: $0, one) } ?? .list(one)
  }
}
