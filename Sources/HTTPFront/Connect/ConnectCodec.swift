import Framing
import NIOCore
import Wire

/// How messages are encoded.
enum ConnectCodec: String, Sendable {
  case json
  case proto

  /// Converts a request to protobuf.
  ///
  /// - Returns: INVALID_ARGUMENT with the field, if it is invalid. It has no value of the request.
  func wire(
    of bytes: ByteBuffer, _ type: MessageType, _ anyTypes: AnyTypes
  ) -> Result<ByteBuffer, RPCStatus> {
    guard self == .json else { return .success(bytes) }
    do {
      return .success(
        try type.wire(
          ofJSON: Array(bytes.readableBytesView), values: MessageJSONLimits.requestValues,
          anyTypes: anyTypes))
    } catch {
      let violations =
        error.path.isEmpty
        ? [] : [RPCStatus.FieldViolation(field: error.path, description: error.description)]
      return .failure(
        RPCStatus(.invalidArgument, error.description, fieldViolations: violations))
    }
  }

  /// Converts an answer from protobuf.
  ///
  /// - Throws: a status without anything of the answer.
  func bytes(
    of wire: ByteBuffer, _ type: MessageType, _ anyTypes: AnyTypes
  ) throws(RPCStatus) -> ByteBuffer {
    guard self == .json else { return wire }
    do {
      return ByteBuffer(bytes: try type.json(of: wire, anyTypes: anyTypes))
    } catch {
      if case .tooLong(let limit) = error.fault {
        throw RPCStatus(
          .resourceExhausted, "the answer has more than \(limit) bytes as JSON; use proto")
      }
      throw RPCStatus(.internal, "the answer cannot be written as JSON")
    }
  }
}
