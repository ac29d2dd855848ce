/// The code under a fuzzer. Each target runs a parser of external input on arbitrary bytes, and
/// checks the invariants.
package enum FuzzTarget: String, CaseIterable, Sendable {
  /// The splitter and the verifier of signed payloads: ``SignedPayloadProbe``.
  case jws
  /// The reader of JSON payloads: ``JSONProbe``.
  case json
  /// The readers of receipts, in DER and as archived responses: ``ReceiptProbe``.
  case der
  /// Frames, envelopes and the streams of a connection: ``FrameProbe``.
  case frames
  /// Every message of `Protos/`: ``MessageProbe``.
  case messages
  /// The JSON form of every message: ``MessageJSONProbe``.
  case messageJSON = "message-json"
  /// Checks of signatures: ``SignatureProbe``.
  case signature
  /// The reader of stored payloads: ``PayloadFormProbe``.
  case payloadForm = "payload-form"

  /// Runs the target once. It may refuse the input. A trap ends the process.
  ///
  /// - Throws: ``BrokenInvariant``.
  package func run(_ input: [UInt8]) throws(BrokenInvariant) {
    switch self {
    case .jws: try SignedPayloadProbe.run(input)
    case .json: try JSONProbe.run(input)
    case .der: try ReceiptProbe.run(input)
    case .frames: try FrameProbe.run(input)
    case .messages: try MessageProbe.run(input)
    case .messageJSON: try MessageJSONProbe.run(input)
    case .signature: try SignatureProbe.run(input)
    case .payloadForm: try PayloadFormProbe.run(input)
    }
  }
}
