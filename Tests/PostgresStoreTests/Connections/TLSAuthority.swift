import Cryptography
import Foundation
import TestSupport

/// An authority that vouches for servers of tests.
struct TLSAuthority {
  private let key: SigningKey
  private let certificate: [UInt8]
  /// Its certificate.
  let pem: String

  init(name: String) throws {
    key = try SigningKey.generate(.p256)
    certificate = try Self.builder(name, .authority(pathLength: 0)).certificate(for: key)
    pem = String(decoding: try CertificatePEM.encode(certificate), as: UTF8.self)
  }

  func server(named name: String) throws -> EphemeralPostgres.Certificate {
    let serverKey = try SigningKey.generate(.p256)
    var builder = Self.builder(name, .signing)
    // RFC 5280 §4.2.1.6: a sequence of names, of which [2] is one in the DNS.
    let text = Array(name.utf8)
    let names = [0x82, UInt8(text.count)] + text
    builder.extensions = [
      CertificateBuilder.Extension(
        objectIdentifier: "2.5.29.17", value: [0x30, UInt8(names.count)] + names)
    ]
    let issued = try builder.certificate(
      for: serverKey, issuedBy: CertificateBuilder.Issuer(certificate: certificate, key: key))
    return EphemeralPostgres.Certificate(
      certificate: String(decoding: try CertificatePEM.encode(issued), as: UTF8.self),
      key: String(decoding: try serverKey.privateKeyPEM(), as: UTF8.self))
  }

  private static func builder(
    _ name: String, _ purpose: CertificateBuilder.Purpose
  ) -> CertificateBuilder {
    let now = Int64(Date().timeIntervalSince1970)
    return CertificateBuilder(
      subject: DistinguishedName(
        commonName: name, organizationalUnit: "Tests", organization: "entitle", country: "US"),
      serialNumber: UInt64.random(in: 1...(.max)), validity: (now - 3_600)...(now + 86_400),
      purpose: purpose)
  }
}
