import Cryptography
package import EntitlementDomain

extension CertificateChain {
  /// - Throws: ``Refusal`` with ``Verdict/certificateExpired`` unless all certificates were valid at
  ///   `moment`, the first and the last moment included.
  package func checkValidity(at moment: Milliseconds) throws(Refusal) {
    for (index, certificate) in certificates.enumerated() {
      let validity = certificate.validity
      guard moment.rawValue >= validity.lowerBound else {
        throw Refusal(.certificateExpired, "the \(name(at: index)) certificate was not valid yet")
      }
      guard moment.rawValue <= validity.upperBound else {
        throw Refusal(.certificateExpired, "the \(name(at: index)) certificate was no longer valid")
      }
    }
  }

  private func name(at index: Int) -> String {
    if isRootAlone { return "only" }
    return index == 0 ? "leaf" : index == certificates.count - 1 ? "root" : "intermediate"
  }
}
