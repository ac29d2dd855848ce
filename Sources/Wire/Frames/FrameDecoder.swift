package import NIOCore

/// What the decoder found next in the received bytes.
package enum DecodedFrame: Hashable, Sendable {
  case frame(Frame)
  /// A long request that begins as none can. It is skipped as far as it is still to come; the connection
  /// stays usable.
  case malformed(FrameHeader, WireError)
  /// The data is longer than a frame may be. It is skipped; the connection stays usable.
  case oversized(FrameHeader)
  /// The announced length is beyond what is worth skipping. Nothing is decoded after it.
  case unskippable(FrameHeader)
}

/// Cuts received bytes into frames, however the network cut them.
///
/// Frames that arrive whole are slices of the received buffer. Only the start of a frame whose
/// rest has not arrived is copied, by ``compact()``, so that a receive buffer is never held for
/// longer than the read that filled it.
package struct FrameDecoder: Sendable {
  private var buffer = ByteBuffer()
  /// Whether `buffer` is this decoder's own copy, not a receive buffer.
  private var isOwnCopy = false
  /// Bytes of a frame that is left out, which are still to come.
  private var skippedBytesLeft = 0
  /// Whether the beginning of the frame in `buffer` has been looked at.
  private var beginningIsKnown = false
  private var isStopped = false

  package init() {}

  /// Whether a frame has begun that has not arrived in full.
  package var hasPartialFrame: Bool {
    buffer.readableBytes > 0 || skippedBytesLeft > 0
  }

  /// Whether there is nothing to decode.
  package var isEmpty: Bool {
    buffer.readableBytes == 0
  }

  /// Adds received bytes. Call ``next()`` until it gives nil, then ``compact()``.
  package mutating func append(_ bytes: ByteBuffer) {
    if isStopped {
      return
    }
    if buffer.readableBytes == 0 {
      buffer = bytes
      isOwnCopy = false
    } else {
      buffer.writeImmutableBuffer(bytes)
    }
    skip()
  }

  /// The next frame, or nil when more bytes are needed for it.
  package mutating func next() -> DecodedFrame? {
    guard !isStopped, let header = peekHeader() else {
      return nil
    }
    if header.dataLength > RPCLimits.maximumFrameData {
      return leaveOut(header)
    }
    if let error = beginningMalformation(header) {
      return leaveOut(header, error)
    }
    let length = Int(header.dataLength)
    guard buffer.readableBytes >= FrameHeader.encodedSize + length else {
      return nil
    }
    beginningIsKnown = false
    buffer.moveReaderIndex(forwardBy: FrameHeader.encodedSize)
    guard let data = buffer.readSlice(length: length) else {
      return nil
    }
    return .frame(Frame(header: header, data: data))
  }

  /// Passes over frames that have arrived whole, as long as `body` takes them; stops at the first that it
  /// does not take, or that ``next()`` would not give as a frame.
  ///
  /// - Parameter body: Must not keep the bytes of the data.
  package mutating func takeFrames(
    while body: (_ header: FrameHeader, _ data: UnsafeRawBufferPointer) -> Bool
  ) {
    if isStopped || skippedBytesLeft > 0 {
      return
    }
    let taken = buffer.withUnsafeReadableBytes { bytes in
      var position = 0
      while bytes.count - position >= FrameHeader.encodedSize {
        let header = FrameHeader(decoding: bytes, at: position)
        let start = position + FrameHeader.encodedSize
        let length = Int(header.dataLength)
        guard length <= RPCLimits.maximumFrameData, length <= bytes.count - start else {
          break
        }
        let data = UnsafeRawBufferPointer(rebasing: bytes[start..<start + length])
        guard Self.malformation(of: header, beginning: data) == nil, body(header, data) else {
          break
        }
        position = start + length
      }
      return position
    }
    if taken > 0 {
      beginningIsKnown = false
    }
    buffer.moveReaderIndex(forwardBy: taken)
  }

  /// Lets go of the receive buffer, keeping a copy of an unfinished frame.
  package mutating func compact() {
    let count = buffer.readableBytes
    if count == 0 {
      buffer = ByteBuffer()
      isOwnCopy = false
    } else if !isOwnCopy || buffer.readerIndex > count {
      // Copied at most once a receive buffer, and later only when more than half is used up:
      // linear in what was received, also when it comes byte by byte.
      buffer = ByteBuffer(bytes: buffer.readableBytesView)
      isOwnCopy = true
    }
  }

  private func peekHeader() -> FrameHeader? {
    guard buffer.readableBytes >= FrameHeader.encodedSize else {
      return nil
    }
    return buffer.withUnsafeReadableBytes { FrameHeader(decoding: $0, at: 0) }
  }

  /// What is wrong with the beginning of the frame in `buffer`: looked at once, when it is there.
  private mutating func beginningMalformation(_ header: FrameHeader) -> WireError? {
    guard !beginningIsKnown,
      buffer.readableBytes >= FrameHeader.encodedSize + RPCLimits.frameBeginning
    else {
      return nil
    }
    beginningIsKnown = true
    return buffer.withUnsafeReadableBytes { bytes in
      Self.malformation(
        of: header,
        beginning: UnsafeRawBufferPointer(rebasing: bytes[FrameHeader.encodedSize...]))
    }
  }

  /// Nil for a frame that is no longer than what is looked at: whoever takes it reads all of it anyway.
  ///
  /// - Parameter bytes: at least that much.
  private static func malformation(
    of header: FrameHeader, beginning bytes: UnsafeRawBufferPointer
  ) -> WireError? {
    guard header.type == .request, header.dataLength > RPCLimits.frameBeginning else {
      return nil
    }
    return RequestEnvelope.malformation(
      ofBeginning: UnsafeRawBufferPointer(rebasing: bytes.prefix(RPCLimits.frameBeginning)))
  }

  /// - Parameter malformation: Why it is left out; nil: it is too long.
  private mutating func leaveOut(
    _ header: FrameHeader, _ malformation: WireError? = nil
  ) -> DecodedFrame {
    if header.dataLength > RPCLimits.maximumSkippedData {
      isStopped = true
      buffer = ByteBuffer()
      return .unskippable(header)
    }
    beginningIsKnown = false
    buffer.moveReaderIndex(forwardBy: FrameHeader.encodedSize)
    skippedBytesLeft = Int(header.dataLength)
    skip()
    return malformation.map { .malformed(header, $0) } ?? .oversized(header)
  }

  private mutating func skip() {
    let count = min(skippedBytesLeft, buffer.readableBytes)
    buffer.moveReaderIndex(forwardBy: count)
    skippedBytesLeft -= count
  }
}
