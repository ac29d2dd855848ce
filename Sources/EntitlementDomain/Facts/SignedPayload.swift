/// A JWS taken apart for keeping: the long header, which all payloads of one signer share, apart
/// from what is new in each.
///
/// Verification accepts canonical base64url only, so encoding the three parts again gives the
/// bytes that Apple sent.
package struct SignedPayload: Hashable, Sendable {
  /// The header segment as it came, base64url.
  package var header: [UInt8]
  /// The payload, decoded: JSON.
  package var payload: [UInt8]
  /// r‖s, 64 bytes.
  package var signature: [UInt8]

  package init(header: [UInt8], payload: [UInt8], signature: [UInt8]) {
    self.header = header
    self.payload = payload
    self.signature = signature
  }
}
