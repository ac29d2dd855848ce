/// One signed payload, and where it came from.
struct SourcedPayload {
  /// The file and, where it holds several, the line or the position: `history.json#3`.
  let name: String
  let jws: [UInt8]
}
