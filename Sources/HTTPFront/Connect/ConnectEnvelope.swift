package import Framing
package import NIOCore

/// What is around each message of a stream.
package enum ConnectEnvelope {
  enum Flags {
    static let compressed: UInt8 = 1
    static let endOfStream: UInt8 = 2
  }

  /// The last message of a response.
  ///
  /// - Parameters:
  ///   - details: In place of those of the status; nil: those.
  ///   - metadata: Fields that HTTP would have as trailers, each name once. Streams of the service have
  ///     none.
  package static func end(
    _ status: RPCStatus?, details: [ConnectError.Detail]? = nil,
    metadata: [(name: String, values: [String])] = []
  ) -> ByteBuffer {
    var json = Array("{".utf8)
    if let status {
      json += Array("\"error\":".utf8)
      json += ConnectError.json(
        status.code == .ok ? RPCStatus(.internal) : status, details: details)
    }
    if !metadata.isEmpty {
      json += Array((status == nil ? "\"metadata\":{" : ",\"metadata\":{").utf8)
      for (index, field) in metadata.enumerated() {
        if index > 0 { json.append(UInt8(ascii: ",")) }
        json.appendText(field.name)
        json += Array(":[".utf8)
        for (index, value) in field.values.enumerated() {
          if index > 0 { json.append(UInt8(ascii: ",")) }
          json.appendText(value)
        }
        json.append(UInt8(ascii: "]"))
      }
      json.append(UInt8(ascii: "}"))
    }
    json.append(UInt8(ascii: "}"))
    return envelope(Flags.endOfStream, ByteBuffer(bytes: json))
  }

  static func envelope(_ flags: UInt8, _ message: ByteBuffer) -> ByteBuffer {
    var envelope = ByteBuffer()
    envelope.reserveCapacity(5 + message.readableBytes)
    envelope.writeInteger(flags)
    envelope.writeInteger(UInt32(message.readableBytes))
    envelope.writeImmutableBuffer(message)
    return envelope
  }
}
