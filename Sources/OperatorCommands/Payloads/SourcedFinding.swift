import Verification

/// What an input that can be read gave: something signed, or why there is none in it.
struct SourcedFinding {
  /// As in ``SourcedPayload``.
  let name: String
  let content: Result<SourcedContent, Refusal>

  /// - Throws: ``Refusal`` also when it is something else than a JWS.
  func payload() throws(Refusal) -> SourcedPayload {
    switch try content.get() {
    case .jws(let bytes): return SourcedPayload(name: name, jws: bytes)
    case .receipt: throw Refusal(.malformed, "a receipt: receipt submit takes it")
    case .archivedResponse:
      throw Refusal(.malformed, "an archived response of verifyReceipt: receipt import takes it")
    }
  }
}
