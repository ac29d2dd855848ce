package import EntitlementDomain
package import Framing
package import NIOCore

extension CheckEntitlementResponse {
  /// Reads one entitlement from an encoded ``GetCustomerStateResponse`` with a state. All other
  /// fields are skipped: decoding a whole state costs more than the rest of such a call.
  ///
  /// - Throws: ``WireError`` when `answer` is not such a message.
  package init(
    of entitlement: EntitlementID, readingEncoded answer: ByteBuffer
  ) throws(WireError) {
    let outcome = answer.withUnsafeReadableBytes { bytes in
      Result { () throws(WireError) -> Self in try Self.read(bytes, entitlement) }
    }
    self = try outcome.get()
  }

  /// Field numbers as in `Protos/`; a test compares them.
  private enum Field {
    static let state: UInt32 = 1
    static let stateRevision: UInt32 = 4
    static let stateEntitlements: UInt32 = 8
    static let stateNextTransition: UInt32 = 11
    static let entitlementID: UInt32 = 1
    static let entitlementSources: UInt32 = 2
    static let sourceUntil: UInt32 = 5
  }

  private static func read(
    _ bytes: UnsafeRawBufferPointer, _ entitlement: EntitlementID
  ) throws(WireError) -> Self {
    var answer = EnvelopeCursor(bytes, of: "GetCustomerStateResponse")
    while let tag = try answer.readTag() {
      if tag.field == Field.state {
        let range = try answer.readRange(tag)
        return try read(state: answer.message(in: range, of: "CustomerState"), entitlement)
      }
      try answer.skip(tag)
    }
    throw WireError(.truncated, "GetCustomerStateResponse")
  }

  private static func read(
    state: EnvelopeCursor, _ entitlement: EntitlementID
  ) throws(WireError) -> Self {
    var state = state
    var response = Self(isGranted: false, until: nil, nextTransitionAt: nil, revision: 0)
    while let tag = try state.readTag() {
      switch tag.field {
      case Field.stateRevision:
        response.revision = Int64(bitPattern: try state.readNumber(tag))
      case Field.stateNextTransition:
        response.nextTransitionAt = Milliseconds(Int64(bitPattern: try state.readNumber(tag)))
      case Field.stateEntitlements:
        let range = try state.readRange(tag)
        try response.read(state.message(in: range, of: "EntitlementState"), entitlement)
      default:
        try state.skip(tag)
      }
    }
    return response
  }

  /// Expects the id before the sources: our own encoder wrote the message, with the fields in the
  /// order of their numbers.
  private mutating func read(
    _ state: EnvelopeCursor, _ entitlement: EntitlementID
  ) throws(WireError) {
    var state = state
    while let tag = try state.readTag() {
      switch tag.field {
      case Field.entitlementID:
        let range = try state.readRange(tag)
        guard state.isText(in: range, entitlement.rawValue) else { return }
      case Field.entitlementSources:
        // The first source has the latest end.
        let range = try state.readRange(tag)
        until = try Self.until(state.message(in: range, of: "EntitlementSource"))
        isGranted = true
        return
      default:
        try state.skip(tag)
      }
    }
  }

  private static func until(
    _ source: EnvelopeCursor
  ) throws(WireError) -> Milliseconds? {
    var source = source
    while let tag = try source.readTag() {
      if tag.field == Field.sourceUntil {
        return Milliseconds(Int64(bitPattern: try source.readNumber(tag)))
      }
      try source.skip(tag)
    }
    return nil
  }
}
