package import NIOCore

extension WatchCustomerStatesResponse {
  /// This message with the state that an encoded ``GetCustomerStateResponse`` holds: what encoding it
  /// anew would give, without decoding answers that are held in memory.
  ///
  /// - Returns: nil when there is no change to put it in, or no state in the answer.
  package func encoded(joining answer: ByteBuffer) throws(MessageError) -> ByteBuffer? {
    let plain = try encoded()
    guard change?.state == nil, let change = plain.message(inField: Self.changeField),
      let state = answer.message(inField: Self.answerStateField)
    else { return nil }
    let stateLength = state.readableBytes
    let fieldLength = 1 + ByteBuffer.varintSize(stateLength) + stateLength
    var buffer = ByteBuffer()
    // Two tags of one byte, and lengths of five at most.
    buffer.reserveCapacity(plain.readableBytes + fieldLength + 6)
    buffer.writeField(Self.cursorField, text: cursor)
    buffer.writeFieldPrefix(Self.changeField, length: change.readableBytes + fieldLength)
    buffer.writeImmutableBuffer(change)
    buffer.writeField(Self.changeStateField, bytes: state)
    return buffer
  }

  // Numbers in `Protos/`; a test compares.
  private static let cursorField: UInt32 = 1
  private static let changeField: UInt32 = 2
  private static let changeStateField: UInt32 = 9
  private static let answerStateField: UInt32 = 1
}

extension ByteBuffer {
  /// The content of a message's field that is a message itself; nil when it is absent or the bytes are
  /// no message.
  fileprivate func message(inField number: UInt32) -> ByteBuffer? {
    let range = withUnsafeReadableBytes { bytes -> Range<Int>? in
      var reader = ProtobufFieldReader(bytes, of: "a message")
      while let tag = try? reader.readTag() {
        if tag.field == number { return try? reader.readBytes(tag) }
        guard (try? reader.skip(tag)) != nil else { return nil }
      }
      return nil
    }
    return range.flatMap { getSlice(at: readerIndex + $0.lowerBound, length: $0.count) }
  }
}
