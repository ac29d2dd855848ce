import Cryptography
import EntitlementDomain

/// One certificate whose status is of interest, and who issued it.
struct StatusQuestion: Sendable {
  /// Names a question: the same for all chains that share the two certificates.
  struct Key: Hashable, Sendable {
    let certificate: CertificateFingerprint
    let issuer: CertificateFingerprint
  }

  let certificate: Certificate
  let issuer: Certificate
  /// What the certificate is within its chain.
  let name: String

  var key: Key { Key(certificate: certificate.fingerprint, issuer: issuer.fingerprint) }

  /// The address to ask at; nil when the certificate names none that can be asked.
  ///
  /// Answers are signed, and certificates name `http:` for them; `https:` would need certificates of
  /// its own to be trusted first.
  var address: String? {
    certificate.statusResponderAddresses.first { $0.lowercased().hasPrefix("http://") }
  }
}

extension CertificateChain {
  /// What to ask about this chain: all certificates but the root, which is trusted by its name, and
  /// but those that are not valid now, of which issuers say nothing any more.
  func statusQuestions(at now: Milliseconds) -> [StatusQuestion] {
    zip(certificates, certificates.dropFirst()).enumerated().compactMap { index, pair in
      let (certificate, issuer) = pair
      guard certificate.validity.contains(now.rawValue) else { return nil }
      return StatusQuestion(
        certificate: certificate, issuer: issuer, name: index == 0 ? "leaf" : "intermediate")
    }
  }
}
