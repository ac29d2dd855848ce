package import JSON

/// Why a message could not be converted to JSON or from it. Names the field; never contains a value
/// that a peer sent.
package struct MessageJSONError: Error, Hashable, Sendable, CustomStringConvertible {
  package enum Fault: Hashable, Sendable {
    /// Not JSON, or a duplicate name in an object. Has the code and a description with the
    /// position.
    case malformed(JSONError.Code, String)
    case unknownField
    /// Another kind of JSON value than the field has. Has the expected kind, in words.
    case wrongType(expected: String)
    /// A number with a fraction for an integer field.
    case notAnInteger
    case outOfRange
    /// The enumeration has no such name.
    case unknownValue
    case invalidBase64
    case nullInText
    /// A field that occurs under both of its names.
    case duplicateField
    /// Another field is set that excludes this one.
    case conflicting(with: String)
    case nestedTooDeep
    /// An `Any` without the type of its message, or with one that is not among the ``AnyTypes``.
    case unknownType
    case tooLong(limit: Int)
    /// The message itself could not be decoded or encoded.
    case message(MessageError)
  }

  package let fault: Fault
  /// Path of the field, such as `items[3].signedPayload`; empty for the message as a whole.
  package let path: String
  /// Full name of the outermost message.
  package let messageType: String

  package init(_ fault: Fault, at path: String, in messageType: String) {
    self.fault = fault
    self.path = path
    self.messageType = messageType
  }

  init(_ fault: Fault, at path: String, in type: MessageType) {
    self.init(fault, at: path, in: type.name)
  }

  package var description: String {
    if case .message(let error) = fault { return error.description }
    return "\(messageType): \(path.isEmpty ? "the JSON" : path) \(fault.text)"
  }
}

extension MessageJSONError.Fault {
  fileprivate var text: String {
    switch self {
    case .malformed(_, let reason): "cannot be read: \(reason)"
    case .unknownField: "is not a field of this message"
    case .wrongType(let expected): "is not \(expected)"
    case .notAnInteger: "is not an integer"
    case .outOfRange: "is out of range"
    case .unknownValue: "has an unknown value"
    case .invalidBase64: "is not base64"
    case .nullInText: "contains a NUL"
    case .duplicateField: "occurs twice"
    case .conflicting(let other): "excludes \(other), which is also set"
    case .nestedTooDeep: "is nested too deep"
    case .unknownType: "has a message of an unknown type"
    case .tooLong(let limit): "has more than \(limit) bytes"
    case .message(let error): error.description
    }
  }
}
