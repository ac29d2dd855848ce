import Framing
import NIOCore
import Wire

/// The envelopes in frames: a decoded envelope is equal after encoding and decoding.
enum EnvelopeProbe {
  static func run(_ data: ByteBuffer) throws(BrokenInvariant) {
    if let request = try? RequestEnvelope(decoding: data) { try check(request) }
    if let response = try? ResponseEnvelope(decoding: data) { try check(response) }
  }

  private static func check(_ request: RequestEnvelope) throws(BrokenInvariant) {
    let pairs = request.metadata.pairs
    try require(pairs.count == request.metadata.count, "the number of metadata is correct")
    try require(
      pairs.count <= RPCLimits.maximumMetadataPairs, "the number of metadata is within the limit")
    for pair in pairs {
      try require(
        request.metadata[pair.key].contains(pair.value), "metadata are found by their key")
    }
    var written = ByteBuffer()
    RequestEnvelope.write(
      service: request.service, method: request.method, payload: request.payload,
      timeoutNanoseconds: request.timeoutNanoseconds, metadata: pairs, into: &written)
    guard let again = try? RequestEnvelope(decoding: written) else {
      throw BrokenInvariant("an encoded request can be decoded")
    }
    try require(
      again.service == request.service && again.method == request.method
        && again.payload == request.payload
        && again.timeoutNanoseconds == request.timeoutNanoseconds
        && again.metadata.pairs.elementsEqual(pairs, by: ==),
      "an encoded request decodes to the same")
  }

  private static func check(_ response: ResponseEnvelope) throws(BrokenInvariant) {
    guard let status = response.status else { return }
    try require(status.code != .ok, "a status in an envelope is a failure")
    var written = ByteBuffer()
    FrameEncoder.writeResponse(streamID: StreamID(rawValue: 1), status: status, into: &written)
    written.moveReaderIndex(forwardBy: FrameHeader.encodedSize)
    guard let again = try? ResponseEnvelope(decoding: written) else {
      throw BrokenInvariant("an encoded failure can be decoded")
    }
    try require(again.status == status, "an encoded failure decodes to the same")
  }
}
