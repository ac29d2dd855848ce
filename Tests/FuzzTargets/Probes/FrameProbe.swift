import Framing
import NIOCore
import StoreSimulator
import Wire

/// Frames and their content: the same frames come out wherever the network cuts the bytes, and no
/// sequence of frames breaks either end of a connection.
///
/// The first byte of an input chooses where it is cut; the rest are the bytes of a peer.
enum FrameProbe {
  static func run(_ input: [UInt8]) throws(BrokenInvariant) {
    guard let cuts = input.first else { return }
    let sent = ByteBuffer(bytes: input.dropFirst())
    let whole = decode(sent) { $0 }
    try require(decode(sent) { _ in 1 } == whole, "frames do not depend on how bytes arrive")
    var generator = SeededGenerator(seed: UInt64(cuts))
    try require(
      decode(sent) { _ in 1 + generator.number(below: 64) } == whole,
      "frames do not depend on where bytes are cut")
    try checkEncoding(of: whole, sent: sent)
    for case .frame(let frame) in whole.frames { try EnvelopeProbe.run(frame.data) }
    try ServerReplay.run(whole.frames)
    try ClientReplay.run(whole.frames)
  }

  private struct Decoded: Hashable {
    var frames: [DecodedFrame] = []
    var hasPartialFrame = false
  }

  /// - Parameter pieceLength: how many of the remaining bytes arrive together, as slices of the
  ///   input: copies would dominate the time.
  private static func decode(_ sent: ByteBuffer, pieceLength: (Int) -> Int) -> Decoded {
    var decoded = Decoded()
    var decoder = FrameDecoder()
    var rest = sent
    while let piece = rest.readSlice(
      length: min(rest.readableBytes, pieceLength(rest.readableBytes))),
      piece.readableBytes > 0
    {
      decoder.append(piece)
      while let frame = decoder.next() { decoded.frames.append(frame) }
      decoder.compact()
    }
    decoded.hasPartialFrame = decoder.hasPartialFrame
    return decoded
  }

  private static func checkEncoding(
    of decoded: Decoded, sent: ByteBuffer
  ) throws(BrokenInvariant) {
    var buffer = ByteBuffer()
    for found in decoded.frames {
      // The content of a skipped frame is not kept, so it cannot be encoded again.
      guard case .frame(let frame) = found else { return }
      try require(
        Int(frame.header.dataLength) == frame.data.readableBytes,
        "a frame has its announced length")
      FrameEncoder.writeHeader(frame.header, into: &buffer)
      buffer.writeImmutableBuffer(frame.data)
    }
    try require(
      sent.readableBytesView.starts(with: buffer.readableBytesView),
      "decoded frames are encoded to the same bytes")
    try require(
      decoded.hasPartialFrame == (buffer.readableBytes < sent.readableBytes),
      "remaining bytes are part of one frame")
  }
}
