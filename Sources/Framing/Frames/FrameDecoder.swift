package import NIOCore

/// The next item that the decoder found in the received bytes.
package enum DecodedFrame: Hashable, Sendable {
  case frame(Frame)
  /// The first bytes of a long request are malformed. The rest of the frame is skipped, and the
  /// connection stays usable.
  case malformed(FrameHeader, WireError)
  /// The data exceeds ``RPCLimits/maximumFrameData``. It is skipped, and the connection stays
  /// usable.
  case oversized(FrameHeader)
  /// The announced length exceeds ``RPCLimits/maximumSkippedData``. Decoding stops.
  case unskippable(FrameHeader)
}

/// Splits the received byte stream into frames.
///
/// Complete frames are slices of the receive buffer. Only an incomplete frame is copied, by
/// ``compact()``, so that a receive buffer is retained no longer than the read that filled it.
package struct FrameDecoder: Sendable {
  private var buffer = ByteBuffer()
  /// Whether `buffer` is a copy made by ``compact()`` rather than a receive buffer.
  private var isOwnCopy = false
  /// Bytes of a skipped frame that have not arrived yet.
  private var skippedBytesLeft = 0
  /// Whether the first bytes of the frame in `buffer` have been checked.
  private var hasCheckedFirstBytes = false
  private var isStopped = false

  package init() {}

  /// Whether a frame has arrived in part.
  package var hasPartialFrame: Bool {
    buffer.readableBytes > 0 || skippedBytesLeft > 0
  }

  /// Whether no bytes wait to be decoded.
  package var isEmpty: Bool {
    buffer.readableBytes == 0
  }

  /// Bytes that wait to be decoded.
  package var bufferedBytes: Int {
    buffer.readableBytes
  }

  /// Gives up an incomplete frame: its bytes are released, and the rest is skipped. Call only after
  /// ``next()`` has returned nil.
  ///
  /// - Returns: The frame's header; nil if no frame with a complete header is incomplete, so that
  ///   nothing was given up.
  package mutating func dropPartialFrame() -> FrameHeader? {
    guard !isStopped, skippedBytesLeft == 0, let header = peekHeader(),
      buffer.readableBytes < FrameHeader.encodedSize + Int(header.dataLength)
    else {
      return nil
    }
    _ = skipFrame(header)
    compact()
    return header
  }

  /// Adds received bytes. Call ``next()`` until it returns nil, then ``compact()``.
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
    skipReceivedBytes()
  }

  /// Returns the next item, or nil if more bytes are needed.
  package mutating func next() -> DecodedFrame? {
    guard !isStopped, let header = peekHeader() else {
      return nil
    }
    if header.dataLength > RPCLimits.maximumFrameData {
      return skipFrame(header)
    }
    if let error = errorInFirstBytes(header) {
      return skipFrame(header, error)
    }
    let length = Int(header.dataLength)
    guard buffer.readableBytes >= FrameHeader.encodedSize + length else {
      return nil
    }
    hasCheckedFirstBytes = false
    buffer.moveReaderIndex(forwardBy: FrameHeader.encodedSize)
    guard let data = buffer.readSlice(length: length) else {
      return nil
    }
    return .frame(Frame(header: header, data: data))
  }

  /// Passes complete frames to `body` and consumes each one for which `body` returns true. Stops at
  /// the first frame that `body` refuses or that ``next()`` would not return as a frame.
  ///
  /// - Parameter body: Must not keep the bytes of the data after it returns.
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
        guard Self.error(in: header, firstBytes: data) == nil, body(header, data) else {
          break
        }
        position = start + length
      }
      return position
    }
    if taken > 0 {
      hasCheckedFirstBytes = false
    }
    buffer.moveReaderIndex(forwardBy: taken)
  }

  /// Releases the receive buffer, and copies an incomplete frame.
  package mutating func compact() {
    let count = buffer.readableBytes
    if count == 0 {
      buffer = ByteBuffer()
      isOwnCopy = false
    } else if !isOwnCopy || buffer.readerIndex > count {
      // A receive buffer is copied at most once, and a copy only when more than half of it is
      // consumed: the cost is linear in the bytes received, even if they arrive one by one.
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

  /// Checks the first bytes of the frame in `buffer` once, when enough of them have arrived.
  private mutating func errorInFirstBytes(_ header: FrameHeader) -> WireError? {
    guard !hasCheckedFirstBytes,
      buffer.readableBytes >= FrameHeader.encodedSize + RPCLimits.earlyCheckLength
    else {
      return nil
    }
    hasCheckedFirstBytes = true
    return buffer.withUnsafeReadableBytes { bytes in
      Self.error(
        in: header,
        firstBytes: UnsafeRawBufferPointer(rebasing: bytes[FrameHeader.encodedSize...]))
    }
  }

  /// The error in the first bytes of a long request. Nil for shorter frames, whose receiver decodes
  /// them completely.
  ///
  /// - Parameter bytes: At least ``RPCLimits/earlyCheckLength`` bytes if the frame is longer than
  ///   that.
  private static func error(
    in header: FrameHeader, firstBytes bytes: UnsafeRawBufferPointer
  ) -> WireError? {
    guard header.type == .request, header.dataLength > RPCLimits.earlyCheckLength else {
      return nil
    }
    return RequestEnvelope.error(
      inFirstBytes: UnsafeRawBufferPointer(rebasing: bytes.prefix(RPCLimits.earlyCheckLength)))
  }

  /// - Parameter error: Why the frame is skipped; nil if it is too long.
  private mutating func skipFrame(
    _ header: FrameHeader, _ error: WireError? = nil
  ) -> DecodedFrame {
    if header.dataLength > RPCLimits.maximumSkippedData {
      isStopped = true
      buffer = ByteBuffer()
      return .unskippable(header)
    }
    hasCheckedFirstBytes = false
    buffer.moveReaderIndex(forwardBy: FrameHeader.encodedSize)
    skippedBytesLeft = Int(header.dataLength)
    skipReceivedBytes()
    return error.map { .malformed(header, $0) } ?? .oversized(header)
  }

  private mutating func skipReceivedBytes() {
    let count = min(skippedBytesLeft, buffer.readableBytes)
    buffer.moveReaderIndex(forwardBy: count)
    skippedBytesLeft -= count
  }
}
