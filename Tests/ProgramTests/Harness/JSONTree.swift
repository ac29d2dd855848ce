import Foundation

/// Any JSON value, with access to its parts.
enum JSONTree: Hashable, Sendable, Decodable {
  case null
  case boolean(Bool)
  case integer(Int64)
  case number(Double)
  case text(String)
  case array([JSONTree])
  case object([String: JSONTree])

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
    } else if let value = try? container.decode([JSONTree].self) {
      self = .array(value)
    } else {
      self = .object(try container.decode([String: JSONTree].self))
    }
  }

  init(parsing bytes: some Sequence<UInt8>) throws {
    self = try JSONDecoder().decode(JSONTree.self, from: Data(bytes))
  }

  subscript(name: String) -> JSONTree? {
    if case .object(let members) = self { members[name] } else { nil }
  }

  var text: String? {
    if case .text(let value) = self { value } else { nil }
  }

  /// A number, or a string with a 64-bit number.
  var integer: Int64? {
    switch self {
    case .integer(let value): value
    case .text(let text): Int64(text)
    default: nil
    }
  }

  var elements: [JSONTree] {
    if case .array(let values) = self { values } else { [] }
  }

  /// The value without one member.
  func without(_ name: String) -> JSONTree {
    guard case .object(var members) = self else { return self }
    members[name] = nil
    return .object(members)
  }

  /// Every path in it, such as `groups[].standing.status`.
  ///
  /// - Parameter closed: members whose content is left out.
  func places(closed: Set<String> = []) -> Set<String> {
    switch self {
    case .array(let elements):
      elements.reduce(into: []) { places, element in
        places.formUnion(element.places(closed: closed).map { "[]\($0)" })
      }
    case .object(let members):
      members.reduce(into: []) { places, member in
        places.insert(".\(member.key)")
        guard !closed.contains(member.key) else { return }
        places.formUnion(member.value.places(closed: closed).map { ".\(member.key)\($0)" })
      }
    default: []
    }
  }
}
