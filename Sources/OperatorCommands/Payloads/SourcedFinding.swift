import Verification

/// What an input that can be read gave: a payload, or why there is none in it.
struct SourcedFinding {
  /// As in ``SourcedPayload``.
  let name: String
  let content: Result<SourcedPayload, Refusal>

  func payload() throws(Refusal) -> SourcedPayload {
    try content.get()
  }
}
