package import EntitlementDomain

/// Why a message could not be turned into JSON or back. Names the field, and never holds a value that was
/// sent.
package struct MessageJSONError: Error, Hashable, Sendable, CustomStringConvertible {
  package enum Fault: Hashable, Sendable {
    /// Not JSON, or with a name twice in one object: the code and the place.
    case malformed(PayloadError.Code, String)
    case unknownField
    /// Another kind of JSON value than the field has; what it has.
    case wrongType(expected: String)
    /// A number with a fraction where an integer belongs.
    case notAnInteger
    case outOfRange
    /// The enumeration has no such name.
    case unknownValue
    case invalidBase64
    case nullInText
    /// A field that is there under both of its names.
    case duplicateField
    /// It excludes another field that is set as well.
    case conflicting(with: String)
    case nestedTooDeep
    case tooLong(limit: Int)
    /// The message itself could not be decoded or encoded.
    case message(MessageError)
  }

  package let fault: Fault
  /// Such as `items[3].signedPayload`; empty for the message as a whole.
  package let path: String
  /// Full name of the message as a whole.
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
    case .unknownValue: "has a value that is not known"
    case .invalidBase64: "is not base64"
    case .nullInText: "holds a NUL"
    case .duplicateField: "is there twice"
    case .conflicting(let other): "excludes \(other), which is set as well"
    case .nestedTooDeep: "is nested too deep"
    case .tooLong(let limit): "has more than \(limit) bytes"
    case .message(let error): error.description
    }
  }
}
