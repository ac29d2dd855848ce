import Foundation
import JSONDocuments

/// An answer in its JSON form.
indirect enum AnswerValue: Hashable, Sendable {
  case text(String)
  case integer(Int64)
  case boolean(Bool)
  case list([AnswerValue])
  case object([String: AnswerValue])

  /// What the document prints as JSON; what is absent there is absent here.
  init(_ document: some Encodable) throws {
    self = try JSONDecoder().decode(
      AnswerValue.self, from: Data(try JSONText.line(document).utf8))
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
