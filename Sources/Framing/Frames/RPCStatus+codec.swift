package import NIOCore

/// The wire format of `google.rpc.Status`: field 1 is the code, 2 the message, 3 the details. Each
/// detail is an `Any` with a type URL and a value. Details of unknown types are skipped.
extension RPCStatus {
  private enum DetailType {
    static let prefix = "type.googleapis.com/"
    static let errorInfo = "google.rpc.ErrorInfo"
    static let retryInfo = "google.rpc.RetryInfo"
    static let badRequest = "google.rpc.BadRequest"
  }

  /// The encoded `google.rpc.Status`.
  func encoded() -> ByteBuffer {
    var buffer = ByteBuffer()
    buffer.writeField(1, integer: Int64(code.rawValue))
    buffer.writeField(2, text: message)
    for (type, value) in details {
      var detail = ByteBuffer()
      detail.writeField(1, text: DetailType.prefix + type)
      detail.writeField(2, bytes: value)
      buffer.writeField(3, bytes: detail)
    }
    return buffer
  }

  /// The details as messages: each with its full name, such as `google.rpc.ErrorInfo`.
  package var details: [(type: String, value: ByteBuffer)] {
    var details: [(type: String, value: ByteBuffer)] = []
    if let errorInfo {
      details.append((DetailType.errorInfo, errorInfo.encoded()))
    }
    if let retryDelay {
      details.append((DetailType.retryInfo, Self.encodedRetryInfo(retryDelay)))
    }
    if !fieldViolations.isEmpty {
      details.append((DetailType.badRequest, Self.encodedBadRequest(fieldViolations)))
    }
    return details
  }

  /// Decodes a `google.rpc.Status`. An unknown code becomes UNKNOWN.
  init(decoding message: EnvelopeCursor) throws(WireError) {
    self.init(.ok)
    var reader = message
    while let tag = try reader.readTag() {
      switch tag.field {
      case 1:
        let number = try reader.readNumber(tag)
        code = UInt8(exactly: number).flatMap(RPCCode.init(rawValue:)) ?? .unknown
      case 2:
        self.message = reader.string(in: try reader.readText(tag))
      case 3:
        let range = try reader.readRange(tag)
        try readDetail(reader.message(in: range, of: "Status.details"))
      default:
        try reader.skip(tag)
      }
    }
  }

  private mutating func readDetail(_ message: EnvelopeCursor) throws(WireError) {
    var reader = message
    var type = ""
    var value = 0..<0
    while let tag = try reader.readTag() {
      switch tag.field {
      case 1: type = reader.string(in: try reader.readText(tag))
      case 2: value = try reader.readRange(tag)
      default: try reader.skip(tag)
      }
    }
    let detail = reader.message(in: value, of: "Status.details.value")
    guard type.hasPrefix(DetailType.prefix) else { return }
    switch type.dropFirst(DetailType.prefix.count) {
    case DetailType.errorInfo: errorInfo = try ErrorInfo(decoding: detail)
    case DetailType.retryInfo: retryDelay = try Self.retryDelay(decoding: detail)
    case DetailType.badRequest: fieldViolations = try Self.fieldViolations(decoding: detail)
    default: break
    }
  }

  private static func encodedRetryInfo(_ delay: Duration) -> ByteBuffer {
    let (seconds, attoseconds) = delay.components
    var duration = ByteBuffer()
    duration.writeField(1, integer: seconds)
    duration.writeField(2, integer: attoseconds / 1_000_000_000)
    var buffer = ByteBuffer()
    buffer.writeField(1, bytes: duration)
    return buffer
  }

  private static func retryDelay(
    decoding message: EnvelopeCursor
  ) throws(WireError) -> Duration? {
    var reader = message
    var delay: Duration?
    while let tag = try reader.readTag() {
      guard tag.field == 1 else {
        try reader.skip(tag)
        continue
      }
      var duration = reader.message(in: try reader.readRange(tag), of: "RetryInfo.retry_delay")
      var seconds: Int64 = 0
      var nanoseconds: Int64 = 0
      while let tag = try duration.readTag() {
        switch tag.field {
        case 1: seconds = Int64(bitPattern: try duration.readNumber(tag))
        case 2: nanoseconds = Int64(bitPattern: try duration.readNumber(tag))
        default: try duration.skip(tag)
        }
      }
      // The delay is only a hint: a value out of range is clamped to google.protobuf.Duration.
      let years10000: Int64 = 315_576_000_000
      delay =
        .seconds(max(0, min(seconds, years10000)))
        + .nanoseconds(max(0, min(nanoseconds, 999_999_999)))
    }
    return delay
  }

  private static func encodedBadRequest(_ violations: [FieldViolation]) -> ByteBuffer {
    var buffer = ByteBuffer()
    for violation in violations {
      var entry = ByteBuffer()
      entry.writeField(1, text: violation.field)
      entry.writeField(2, text: violation.description)
      buffer.writeField(1, bytes: entry)
    }
    return buffer
  }

  private static func fieldViolations(
    decoding message: EnvelopeCursor
  ) throws(WireError) -> [FieldViolation] {
    var reader = message
    var violations: [FieldViolation] = []
    while let tag = try reader.readTag() {
      guard tag.field == 1 else {
        try reader.skip(tag)
        continue
      }
      var entry = reader.message(in: try reader.readRange(tag), of: "BadRequest.field_violations")
      var violation = FieldViolation(field: "", description: "")
      while let tag = try entry.readTag() {
        switch tag.field {
        case 1: violation.field = entry.string(in: try entry.readText(tag))
        case 2: violation.description = entry.string(in: try entry.readText(tag))
        default: try entry.skip(tag)
        }
      }
      violations.append(violation)
    }
    return violations
  }
}

extension RPCStatus.ErrorInfo {
  fileprivate func encoded() -> ByteBuffer {
    var buffer = ByteBuffer()
    buffer.writeField(1, text: reason)
    buffer.writeField(2, text: domain)
    // Sorted, so that equal statuses have equal bytes.
    for (key, value) in metadata.sorted(by: { $0.key < $1.key }) {
      var entry = ByteBuffer()
      entry.writeField(1, text: key)
      entry.writeField(2, text: value)
      buffer.writeField(3, bytes: entry)
    }
    return buffer
  }

  fileprivate init(decoding message: EnvelopeCursor) throws(WireError) {
    self.init(reason: "", domain: "")
    var reader = message
    while let tag = try reader.readTag() {
      switch tag.field {
      case 1: reason = reader.string(in: try reader.readText(tag))
      case 2: domain = reader.string(in: try reader.readText(tag))
      case 3:
        var entry = reader.message(in: try reader.readRange(tag), of: "ErrorInfo.metadata")
        var key = ""
        var value = ""
        while let tag = try entry.readTag() {
          switch tag.field {
          case 1: key = entry.string(in: try entry.readText(tag))
          case 2: value = entry.string(in: try entry.readText(tag))
          default: try entry.skip(tag)
          }
        }
        metadata[key] = value
      default: try reader.skip(tag)
      }
    }
  }
}
