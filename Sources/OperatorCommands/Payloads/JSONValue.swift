import EntitlementDomain
import Foundation
import JSON
import Wire

/// A JSON value inside a document: a payload with Apple's names, or a message. Integers stay exact.
enum JSONValue: Codable {
  case null
  case boolean(Bool)
  case integer(Int64)
  case number(Double)
  case text(String)
  case array([JSONValue])
  case object([String: JSONValue])

  /// - Throws: when a number is out of the range of `Double`.
  init(_ document: JSONDocument) throws {
    self = try JSONDecoder().decode(JSONValue.self, from: Data(document.indented().utf8))
  }

  init(_ message: some WireMessage) throws {
    self = try JSONDecoder().decode(JSONValue.self, from: Data(try message.jsonEncoded()))
  }

  /// The members of a message and a member `file`, the name of the input.
  init(_ message: some WireMessage, ofFile file: String) throws {
    self = try JSONValue(message)
    guard case .object(var members) = self else { return }
    members["file"] = .text(file)
    self = .object(members)
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(Bool.self) {
      self = .boolean(value)
    } else if let value = try? container.decode(Int64.self) {
      self = .integer(value)
    } else if let value = try? container.decode(Double.self) {
      self = .number(value)
    } else if let value = try? container.decode(String.self) {
      self = .text(value)
    } else if let value = try? container.decode([JSONValue].self) {
      self = .array(value)
    } else {
      self = .object(try container.decode([String: JSONValue].self))
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .boolean(let value): try container.encode(value)
    case .integer(let value): try container.encode(value)
    case .number(let value): try container.encode(value)
    case .text(let value): try container.encode(value)
    case .array(let value): try container.encode(value)
    case .object(let value): try container.encode(value)
    }
  }
}
