import COpenSSL

/// A name of the subject in a certificate's subject alternative names (RFC 5280 section 4.2.1.6).
/// Names of other types are not used, and neither is the common name (RFC 9525 section 2).
package enum CertificateName: Hashable, Sendable {
  case dns(String)
  case uri(String)
}

extension CertificateName: CustomStringConvertible {
  /// `DNS:api.example.com`, `URI:spiffe://example.com/api`.
  package var description: String {
    switch self {
    case .dns(let name): "DNS:\(name)"
    case .uri(let name): "URI:\(name)"
    }
  }
}

extension Certificate {
  /// Whether the certificate is for this host: a DNS name, or an IP address. The common name does
  /// not count (RFC 9525 section 2).
  package func isFor(host: String) -> Bool {
    defer { ERR_clear_error() }
    if X509_check_ip_asc(pointer, host, 0) == 1 { return true }
    let flags = X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS
    return X509_check_host(pointer, host, host.utf8.count, UInt32(flags), nil) == 1
  }

  /// The DNS names and URIs, in order. A name that is not printable ASCII is left out: it could look
  /// like another one, and none that is configured can equal it.
  package var alternativeNames: [CertificateName] {
    defer { ERR_clear_error() }
    guard let names = entitle_alternative_names(pointer) else { return [] }
    defer { entitle_alternative_names_free(names) }
    return (0..<entitle_alternative_name_count(names)).compactMap { index in
      var bytes: UnsafePointer<UInt8>?
      var length: CInt = 0
      let type = entitle_alternative_name(names, index, &bytes, &length)
      guard type >= 0, let bytes, length > 0 else { return nil }
      let name = UnsafeBufferPointer(start: bytes, count: Int(length))
      guard name.allSatisfy({ (0x21...0x7E).contains($0) }) else { return nil }
      let text = String(decoding: name, as: UTF8.self)
      return type == GEN_DNS ? .dns(text) : .uri(text)
    }
  }
}
