/// Why a message could not be decoded or encoded. Names the message and the field, and never holds
/// a value that a peer sent.
package struct MessageError: Error, Hashable, Sendable, CustomStringConvertible {
  package enum Code: String, Hashable, Sendable {
    /// The bytes are not a message of this type: the sender is at fault.
    case malformed
    /// The message can be read, but a field holds what it must not: the sender is at fault.
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
  /// Groups were taken out of protobuf; libprotobuf-c does not read them.
  case group
  case wrongWireType(field: String)
  case invalidText(field: String)
  /// A NUL would end the text early for a C reader.
  case nullInText(field: String)
  /// A message field that is not repeated came twice.
  case duplicateMessage(field: String)
  case nestedTooDeep
  /// libprotobuf-c refused what the checks let pass.
  case unreadable

  // Invalid.
  case missing(field: String)
  case tooLong(field: String, limit: Int)
  case tooMany(field: String, limit: Int)
  case outOfRange(field: String)
  case unknownValue(field: String)
  case notUUID(field: String)
  /// It excludes another field that is set as well.
  case conflicting(field: String)

  case arenaExhausted

  package var code: MessageError.Code {
    switch self {
    case .truncated, .overlongNumber, .invalidFieldNumber, .invalidWireType, .group,
      .wrongWireType, .invalidText, .nullInText, .duplicateMessage, .nestedTooDeep, .unreadable:
      .malformed
    case .missing, .tooLong, .tooMany, .outOfRange, .unknownValue, .notUUID, .conflicting:
      .invalid
    case .arenaExhausted:
      .arenaExhausted
    }
  }

  /// The field that is wrong; nil when it is no field in particular.
  package var field: String? {
    switch self {
    case .wrongWireType(let field), .invalidText(let field), .nullInText(let field),
      .duplicateMessage(let field), .missing(let field), .tooLong(let field, _),
      .tooMany(let field, _), .outOfRange(let field), .unknownValue(let field),
      .notUUID(let field), .conflicting(let field):
      field
    case .truncated, .overlongNumber, .invalidFieldNumber, .invalidWireType, .group,
      .nestedTooDeep, .unreadable, .arenaExhausted:
      nil
    }
  }

  package var description: String {
    switch self {
    case .truncated: "ends too early"
    case .overlongNumber: "holds a number of more than ten bytes"
    case .invalidFieldNumber: "holds a field number that is out of range"
    case .invalidWireType: "holds a wire type that does not exist"
    case .group: "holds a group"
    case .wrongWireType(let field): "\(field) has the wrong wire type"
    case .invalidText(let field): "\(field) is not UTF-8"
    case .nullInText(let field): "\(field) holds a NUL"
    case .duplicateMessage(let field): "\(field) is there twice"
    case .nestedTooDeep: "is nested too deep"
    case .unreadable: "cannot be read"
    case .missing(let field): "\(field) is required"
    case .tooLong(let field, let limit): "\(field) has more than \(limit) bytes"
    case .tooMany(let field, let limit): "\(field) has more than \(limit) entries"
    case .outOfRange(let field): "\(field) is out of range"
    case .unknownValue(let field): "\(field) has a value that is not known"
    case .notUUID(let field): "\(field) is not a UUID"
    case .conflicting(let field): "\(field) excludes another field that is set"
    case .arenaExhausted: "takes too much memory"
    }
  }
}
