import Foundation
import Wire

/// An answer in its JSON form.
indirect enum AnswerValue: Hashable, Sendable {
  case text(String)
  case integer(Int64)
  case boolean(Bool)
  case list([AnswerValue])
  case object([String: AnswerValue])

  /// A message as JSON, with what the JSON leaves out because it has the default value: false, zero and
  /// empty lists. Texts and enumerations that are left out are absent.
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
    // Numbers of 64 bits are strings in JSON.
    case (.integer, .text(let text)): return Int64(text).map { .integer($0) } ?? self
    default: return self
    }
  }

  /// For people, on one line.
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
