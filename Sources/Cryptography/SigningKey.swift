import COpenSSL

/// The curves that the App Store's certificates use.
package enum SigningCurve: String, Hashable, Sendable, CaseIterable {
  /// Leaf keys, which sign payloads with ES256.
  case p256 = "P-256"
  /// Root and intermediate keys, which sign certificates.
  case p384 = "P-384"

  /// Length of r and of s in a raw signature, in bytes (RFC 7518 §3.4).
  package var scalarLength: Int {
    switch self {
    case .p256: 32
    case .p384: 48
    }
  }
}

/// A private key on P-256 or P-384.
///
/// `@unchecked Sendable`: the key is not modified after `init`, OpenSSL allows concurrent use of an
/// unmodified `EVP_PKEY`, and each operation creates its own context.
package final class SigningKey: CertificateKey, @unchecked Sendable {
  package let curve: SigningCurve
  /// The owned reference.
  private let key: OpaquePointer

  private init(owning key: OpaquePointer, curve: SigningCurve) {
    self.key = key
    self.curve = curve
  }

  deinit { EVP_PKEY_free(key) }

  /// Generates a random key.
  ///
  /// - Throws: ``CryptographyError/Code/libraryFault``.
  package static func generate(_ curve: SigningCurve) throws(CryptographyError) -> SigningKey {
    guard let context = EVP_PKEY_CTX_new_from_name(nil, "EC", nil) else {
      throw fault("no context for elliptic curves")
    }
    defer { EVP_PKEY_CTX_free(context) }
    var generated: OpaquePointer?
    guard EVP_PKEY_keygen_init(context) == 1,
      EVP_PKEY_CTX_set_group_name(context, curve.rawValue) == 1,
      EVP_PKEY_generate(context, &generated) == 1, let generated
    else { throw fault("no key could be generated") }
    return SigningKey(owning: generated, curve: curve)
  }

  /// Reads an unencrypted private key from PEM.
  ///
  /// - Throws: ``CryptographyError/Code/malformedPrivateKey`` when there is none, or it is on
  ///   another curve.
  package init(privateKeyPEM pem: [UInt8]) throws(CryptographyError) {
    let key = try PrivateKeyPEM.read(pem)
    var name = [CChar](repeating: 0, count: 80)
    var length = 0
    let isNamed = EVP_PKEY_get_group_name(key, &name, name.count, &length) == 1
    let characters = name.prefix(isNamed ? length : 0).map { UInt8(bitPattern: $0) }
    guard let curve = SigningCurve(openSSLName: String(decoding: characters, as: UTF8.self)) else {
      ERR_clear_error()
      EVP_PKEY_free(key)
      throw CryptographyError(.malformedPrivateKey, "not a key on P-256 or P-384")
    }
    self.key = key
    self.curve = curve
  }

  /// Signs `message` with ECDSA over SHA-256: ES256 of RFC 7518 §3.4 for a P-256 key.
  ///
  /// - Returns: r‖s, each of ``SigningCurve/scalarLength`` bytes.
  /// - Throws: ``CryptographyError/Code/signingFailed``.
  package func signature(over message: [UInt8]) throws(CryptographyError) -> [UInt8] {
    try rawSignature(fromDER: try derSignature(over: message))
  }

  /// As ``signature(over:)``, as an ECDSA-Sig-Value in DER (RFC 3279 §2.2.3).
  ///
  /// - Throws: ``CryptographyError/Code/signingFailed``.
  package func derSignature(over message: [UInt8]) throws(CryptographyError) -> [UInt8] {
    guard let context = EVP_MD_CTX_new() else { throw Self.fault("no context for signing") }
    defer { EVP_MD_CTX_free(context) }
    // The longest DER form of a signature on these curves is about 104 bytes.
    var encoded = [UInt8](repeating: 0, count: 160)
    var length = encoded.count
    guard EVP_DigestSignInit_ex(context, nil, "SHA2-256", nil, nil, key, nil) == 1,
      EVP_DigestSign(context, &encoded, &length, message, message.count) == 1
    else {
      ERR_clear_error()
      throw CryptographyError(.signingFailed, "the signature could not be made")
    }
    return Array(encoded.prefix(length))
  }

  /// SHA-384 for P-384, as in Apple's certificates, else SHA-256.
  package var certificateDigestName: String { curve == .p384 ? "SHA384" : "SHA256" }

  package func withPointer<Result>(_ body: (OpaquePointer) -> Result) -> Result {
    // `self` owns the key and must outlive the call.
    withExtendedLifetime(self) { body(key) }
  }

  private func rawSignature(fromDER encoded: [UInt8]) throws(CryptographyError) -> [UInt8] {
    let parsed = encoded.withUnsafeBufferPointer { buffer in
      var position = buffer.baseAddress
      return d2i_ECDSA_SIG(nil, &position, buffer.count)
    }
    guard let parsed else { throw Self.fault("the signature could not be read back") }
    defer { ECDSA_SIG_free(parsed) }
    let size = curve.scalarLength
    var raw = [UInt8](repeating: 0, count: 2 * size)
    let isComplete = raw.withUnsafeMutableBufferPointer { buffer in
      guard let base = buffer.baseAddress else { return false }
      return BN_bn2binpad(ECDSA_SIG_get0_r(parsed), base, Int32(size)) == Int32(size)
        && BN_bn2binpad(ECDSA_SIG_get0_s(parsed), base + size, Int32(size)) == Int32(size)
    }
    guard isComplete else { throw Self.fault("the signature does not fit its curve") }
    return raw
  }

  private static func fault(_ message: String) -> CryptographyError {
    ERR_clear_error()
    return CryptographyError(.libraryFault, message)
  }
}

extension SigningKey {
  /// The public key.
  ///
  /// - Throws: ``CryptographyError/Code/unsupportedPublicKey`` when it is not on P-256.
  package var verifyingKey: VerifyingKey {
    get throws(CryptographyError) {
      // Released by the verifying key.
      EVP_PKEY_up_ref(key)
      return try VerifyingKey(owning: key)
    }
  }
}

extension SigningCurve {
  /// OpenSSL returns the older name of P-256 for keys that it has read.
  fileprivate init?(openSSLName name: String) {
    switch name {
    case "prime256v1", "P-256": self = .p256
    case "secp384r1", "P-384": self = .p384
    default: return nil
    }
  }
}
