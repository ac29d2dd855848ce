/// The curves that the App Store's certificates use.
package enum SigningCurve: String, Hashable, Sendable, CaseIterable {
  /// Leaf keys: what signs payloads with ES256.
  case p256 = "P-256"
  /// Root and intermediate keys: what signs certificates.
  case p384 = "P-384"

  /// Length of r and of s in a raw signature, in bytes (RFC 7518 §3.4).
  package var scalarLength: Int {
    switch self {
    case .p256: 32
    case .p384: 48
    }
  }
}
