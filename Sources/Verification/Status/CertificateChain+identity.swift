import Cryptography

// Two chains are the same when their certificates are.
extension CertificateChain: Hashable {
  package static func == (left: Self, right: Self) -> Bool {
    left.certificates.elementsEqual(right.certificates) { $0.fingerprint == $1.fingerprint }
  }

  package func hash(into hasher: inout Hasher) {
    for certificate in certificates { hasher.combine(certificate.fingerprint) }
  }
}
