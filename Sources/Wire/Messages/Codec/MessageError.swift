/// Why a message could not be decoded or encoded. Names the message and the field; never contains a
/// value that a peer sent.
package struct MessageError: Error, Hashable, Sendable, CustomStringConvertible {
  package enum Code: String, Hashable, Sendable {
    /// The bytes are not a message of this type, by the sender's fault.
    case malformed
    /// The message can be read, but a field has a value that is not allowed, by the sender's fault.
    case invalid
    /// Reading or writing it takes more memory than ``MessageLimits`` allows.
    case arenaExhausted
  }

  package let fault: MessageFault
  /// Full name of the message, such as `entitle.v1.GetCustomerStateRequest`.
  package let messageType: String

  package init(_ fault: MessageFault, in messageType: String) {
    self.fault = fault
    self.messageType = messageType
  }

  package var code: Code { fault.code }

  package var description: String { "\(messageType): \(fault)" }
}

/// What is wrong with a message. Fields are named as in `Protos/`.
package enum MessageFault: Hashable, Sendable, CustomStringConvertible {
  // Malformed.
  case truncated
  case overlongNumber
  case invalidFieldNumber
  case invalidWireType
  /// Groups are no longer part of protobuf; libprotobuf-c does not read them.
  case group
  case wrongWireType(field: String)
  case invalidText(field: String)
  /// A NUL would end the text early for a C reader.
  case nullInText(field: String)
  case nestedTooDeep
  /// libprotobuf-c refused a message that passed the checks.
  case unreadable

  // Invalid.
  case missing(field: String)
  case tooLong(field: String, limit: Int)
  case tooMany(field: String, limit: Int)
  case outOfRange(field: String)
  case unknownValue(field: String)
  case notUUID(field: String)
  /// Another field is set that excludes this one.
  case conflicting(field: String)

  case arenaExhausted

  package var code: MessageError.Code {
    switch self {
    case .truncated, .overlongNumber, .invalidFieldNumber, .invalidWireType, .group,
      .wrongWireType, .invalidText, .nullInText, .nestedTooDeep, .unreadable:
      .malformed
    case .missing, .tooLong, .tooMany, .outOfRange, .unknownValue, .notUUID, .conflicting:
      .invalid
    case .arenaExhausted:
      .arenaExhausted
    }
  }

  /// The field at fault; nil when the fault concerns no single field.
  package var field: String? {
    switch self {
    case .wrongWireType(let field), .invalidText(let field), .nullInText(let field),
      .missing(let field), .tooLong(let field, _), .tooMany(let field, _),
      .outOfRange(let field), .unknownValue(let field), .notUUID(let field),
      .conflicting(let field):
      field
    case .truncated, .overlongNumber, .invalidFieldNumber, .invalidWireType, .group,
      .nestedTooDeep, .unreadable, .arenaExhausted:
      nil
    }
  }

  package var description: String {
    switch self {
    case .truncated: "is truncated"
    case .overlongNumber: "contains a number of more than ten bytes"
    case .invalidFieldNumber: "contains a field number out of range"
    case .invalidWireType: "contains an unknown wire type"
    case .group: "contains a group"
    case .wrongWireType(let field): "\(field) has the wrong wire type"
    case .invalidText(let field): "\(field) is not UTF-8"
    case .nullInText(let field): "\(field) contains a NUL"
    case .nestedTooDeep: "is nested too deep"
    case .unreadable: "cannot be read"
    case .missing(let field): "\(field) is required"
    case .tooLong(let field, let limit): "\(field) has more than \(limit) bytes"
    case .tooMany(let field, let limit): "\(field) has more than \(limit) entries"
    case .outOfRange(let field): "\(field) is out of range"
    case .unknownValue(let field): "\(field) has an unknown value"
    case .notUUID(let field): "\(field) is not a UUID"
    case .conflicting(let field): "\(field) excludes another field that is set"
    case .arenaExhausted: "needs too much memory"
    }
  }
}
