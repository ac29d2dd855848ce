import Yams

/// A JSON value of a payload before it is signed.
indirect enum PayloadValue: Hashable, Sendable {
  case text(String)
  /// As written, because JSON does not limit the size of numbers.
  case number(String)
  case boolean(Bool)
  case null
  case list([PayloadValue])
  case object(PayloadObject)

  /// Converts a node by the JSON schema of YAML 1.2: plain scalars can be numbers, booleans and
  /// null. Everything else is text.
  init(_ node: Node) {
    if let mapping = node.mapping {
      var object = PayloadObject()
      for (key, value) in mapping { object[key.scalar?.string ?? ""] = PayloadValue(value) }
      self = .object(object)
    } else if let sequence = node.sequence {
      self = .list(sequence.map { PayloadValue($0) })
    } else {
      let text = node.scalar?.string ?? ""
      if node.isNull {
        self = .null
      } else if node.scalar?.style != .plain {
        self = .text(text)
      } else if text == "true" || text == "false" {
        self = .boolean(text == "true")
      } else if Self.isNumber(text) {
        self = .number(text)
      } else {
        self = .text(text)
      }
    }
  }

  /// RFC 8259 §6.
  private static func isNumber(_ text: String) -> Bool {
    text.wholeMatch(of: #/-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/#) != nil
  }
}

/// A JSON object whose members keep the order in which they were first set.
struct PayloadObject: Hashable, Sendable {
  private(set) var names: [String] = []
  private var values: [String: PayloadValue] = [:]

  subscript(name: String) -> PayloadValue? {
    get { values[name] }
    set {
      if newValue == nil {
        names.removeAll { $0 == name }
      } else if values[name] == nil {
        names.append(name)
      }
      values[name] = newValue
    }
  }

  /// Sets a member if it is absent.
  mutating func setDefault(_ name: String, _ value: PayloadValue?) {
    if values[name] == nil { self[name] = value }
  }

  var text: String {
    var text = ""
    PayloadValue.object(self).write(to: &text)
    return text
  }

  var bytes: [UInt8] { Array(text.utf8) }
}

extension PayloadValue {
  fileprivate func write(to text: inout String) {
    switch self {
    case .text(let value): Self.write(quoted: value, to: &text)
    case .number(let value): text += value
    case .boolean(let value): text += value ? "true" : "false"
    case .null: text += "null"
    case .list(let values):
      text += "["
      for (index, value) in values.enumerated() {
        if index > 0 { text += "," }
        value.write(to: &text)
      }
      text += "]"
    case .object(let object):
      text += "{"
      for (index, name) in object.names.enumerated() {
        if index > 0 { text += "," }
        Self.write(quoted: name, to: &text)
        text += ":"
        object[name]?.write(to: &text)
      }
      text += "}"
    }
  }

  /// RFC 8259 §7: only the quotation mark, the backslash and control characters must be escaped.
  private static func write(quoted value: String, to text: inout String) {
    text += "\""
    for scalar in value.unicodeScalars {
      switch scalar {
      case "\"", "\\":
        text += "\\"
        text.unicodeScalars.append(scalar)
      case "\0"..<" ":
        let digits = String(scalar.value, radix: 16)
        text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default:
        text.unicodeScalars.append(scalar)
      }
    }
    text += "\""
  }
}
