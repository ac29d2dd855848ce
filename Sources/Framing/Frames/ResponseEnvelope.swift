package import NIOCore

/// ttrpc's `Response`: the status and payload of a finished call.
package struct ResponseEnvelope: Hashable, Sendable {
  /// Nil means OK.
  package var status: RPCStatus?
  package var payload: ByteBuffer

  package init(status: RPCStatus? = nil, payload: ByteBuffer = ByteBuffer()) {
    self.status = status
    self.payload = payload
  }

  /// Decodes the data of a response frame.
  ///
  /// - Throws: ``WireError`` for anything that is not a well-formed `Response`.
  package init(decoding bytes: ByteBuffer) throws(WireError) {
    let result = bytes.withUnsafeReadableBytes { pointer in
      Result { () throws(WireError) in try Self.fields(of: pointer) }
    }
    let fields = try result.get()
    self.status = fields.status.code == .ok ? nil : fields.status
    self.payload =
      bytes.getSlice(
        at: bytes.readerIndex + fields.payload.lowerBound, length: fields.payload.count)
      ?? ByteBuffer()
  }

  private static func fields(
    of bytes: UnsafeRawBufferPointer
  ) throws(WireError) -> (status: RPCStatus, payload: Range<Int>) {
    var status = RPCStatus(.ok)
    var payload = 0..<0
    var reader = EnvelopeCursor(bytes, of: "Response")
    while let tag = try reader.readTag() {
      switch tag.field {
      case 1:
        let range = try reader.readRange(tag)
        status = try RPCStatus(decoding: reader.message(in: range, of: "Response.status"))
      case 2:
        payload = try reader.readRange(tag)
      default:
        try reader.skip(tag)
      }
    }
    return (status, payload)
  }
}
