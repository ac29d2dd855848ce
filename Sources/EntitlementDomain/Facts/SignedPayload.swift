/// The bytes that a fact is read from again, and those that prove it.
package struct SignedPayload: Hashable, Sendable {
  /// What the payload came in.
  package enum Proof: Hashable, Sendable {
    /// A JWS taken apart: the header segment as it came (base64url), which is long, and which all
    /// payloads of one signer share; and r‖s, 64 bytes. Verification accepts canonical base64url
    /// only, so encoding the three parts again gives the bytes that Apple sent.
    case jws(header: [UInt8], signature: [UInt8])
    /// A legacy receipt (DER), or an archived response to one (JSON), whole. All facts out of it
    /// share it.
    case document([UInt8])
  }

  /// JSON with Apple's names: the payload of a JWS, decoded; or what one item of a document says.
  package var payload: [UInt8]
  package var proof: Proof

  package init(payload: [UInt8], proof: Proof) {
    self.payload = payload
    self.proof = proof
  }

  package init(header: [UInt8], payload: [UInt8], signature: [UInt8]) {
    self.init(payload: payload, proof: .jws(header: header, signature: signature))
  }
}
