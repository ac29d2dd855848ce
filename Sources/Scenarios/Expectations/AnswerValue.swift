import EntitlementDomain
import Foundation
import Wire

/// An answer in its JSON form.
indirect enum AnswerValue: Hashable, Sendable {
  case text(String)
  case integer(Int64)
  case boolean(Bool)
  case list([AnswerValue])
  case object([String: AnswerValue])

  /// A message as JSON. Booleans, numbers and lists that the JSON leaves out get their default
  /// value. Texts and enumerations that it leaves out stay absent.
  init<Message: WireMessage>(_ message: Message) throws {
    self = try JSONDecoder().decode(AnswerValue.self, from: Data(try message.jsonEncoded()))
      .completed(as: Message.messageType)
  }

  private func completed(as message: MessageType) -> AnswerValue {
    guard case .object(var members) = self else { return self }
    for field in message.fields {
      if let value = members[field.name] {
        members[field.name] = value.completed(as: field)
      } else if field.isRepeated {
        members[field.name] = .list([])
      } else if !field.hasPresence {
        switch field.kind {
        case .boolean: members[field.name] = .boolean(false)
        case .integer: members[field.name] = .integer(0)
        case .text, .floatingPoint, .enumeration, .message: break
        }
      }
    }
    return .object(members)
  }

  private func completed(as field: MessageField) -> AnswerValue {
    if field.isRepeated, case .list(let values) = self {
      return .list(values.map { $0.completed(as: field) })
    }
    switch (field.kind, self) {
    case (.message(let message), _): return completed(as: message)
    // 64-bit numbers are strings in JSON.
    case (.integer, .text(let text)): return Int64(text).map { .integer($0) } ?? self
    default: return self
    }
  }

  /// Human-readable, on one line.
  var text: String {
    switch self {
    case .text(let text): text
    case .integer(let number): String(number)
    case .boolean(let value): String(value)
    case .list(let values): "[\(values.map(\.text).joined(separator: ", "))]"
    case .object(let members):
      "{\(members.sorted { $0.key < $1.key }.map { "\($0): \($1.text)" }.joined(separator: ", "))}"
    }
  }

  subscript(name: String) -> AnswerValue? {
    guard case .object(let members) = self else { return nil }
    return members[name]
  }
}

extension AnswerValue: Decodable {
  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let value = try? container.decode(Bool.self) {
      self = .boolean(value)
    } else if let value = try? container.decode(Int64.self) {
      self = .integer(value)
    } else if let value = try? container.decode(String.self) {
      self = .text(value)
    } else if let value = try? container.decode([AnswerValue].self) {
      self = .list(value)
    } else {
      self = .object(try container.decode([String: AnswerValue].self))
    }
  }
}

/// The schema of an answer: the names that an expectation may use, and the types of their values.
/// For messages it follows `Protos/`.
indirect enum AnswerShape: Sendable {
  case text
  case integer
  case boolean
  /// Milliseconds in an answer, RFC 3339 or milliseconds in a scenario.
  case moment
  /// One of these names.
  case enumeration([String])
  case object([String: AnswerShape])
  /// A list of values that is compared as a whole.
  case values(AnswerShape)
  /// A list of objects that is compared by position.
  case list(AnswerShape)
  /// A list of objects that are identified by one of their members.
  case keyed(by: String, AnswerShape)
  /// A mapping of any ids to rules.
  case rules

  static let state = AnswerShape(CustomerState.messageType)
  /// The response to a submission by an app.
  static let submission = AnswerShape(SubmitSignedTransactionsResponse.messageType)
  /// The response to a notification.
  static let notification = AnswerShape(SubmitNotificationResponse.messageType)
  /// The verdicts on offers, in their order.
  static let offers = AnswerShape.list(AnswerShape(OfferEligibilityEntry.messageType))
  /// The deciding rules, by id.
  static let explanation = AnswerShape.object(["entitlements": .rules, "groups": .rules])

  /// The members that identify the messages of a list. Other lists are compared by position.
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
