import Cryptography
import Foundation
package import TestSupport

/// A CA for tests, which writes certificates and keys to files.
package struct TLSAuthority: Sendable {
  package let folder: TemporaryFolder
  private let name: String
  private let issuer: CertificateBuilder.Issuer

  /// A certificate and its key, in files.
  package struct Pair: Sendable {
    package let certificate: String
    package let key: String
  }

  private static let day: Int64 = 86_400

  /// - Parameter name: Of the files too.
  package init(_ name: String, in folder: TemporaryFolder) throws {
    self.folder = folder
    self.name = name
    let key = try SigningKey.generate(.p256)
    let certificate = try CertificateBuilder(
      subject: DistinguishedName(commonName: name), serialNumber: 1,
      validity: Self.validity(days: 30), purpose: .authority(pathLength: nil)
    ).certificate(for: key)
    issuer = CertificateBuilder.Issuer(certificate: certificate, key: key)
    try Data(CertificatePEM.encode(certificate)).write(to: URL(filePath: file))
  }

  /// Its certificate.
  package var file: String { folder.file("\(name).pem") }

  /// Issues a certificate for 127.0.0.1 and these names.
  ///
  /// - Parameters:
  ///   - uris: Further names.
  ///   - days: Until its end. Negative: it is expired.
  package func issue(
    _ name: String, dns: [String] = [], uris: [String] = [], days: Int64 = 30,
    hasAddress: Bool = true
  ) throws -> Pair {
    let key = try SigningKey.generate(.p256)
    // RFC 5280 section 4.2.1.6: dNSName is [2], uniformResourceIdentifier [6], iPAddress [7].
    var names = dns.flatMap { Self.element(0x82, Array($0.utf8)) }
    names += uris.flatMap { Self.element(0x86, Array($0.utf8)) }
    if hasAddress { names += Self.element(0x87, [127, 0, 0, 1]) }
    let certificate = try CertificateBuilder(
      subject: DistinguishedName(commonName: name),
      serialNumber: UInt64.random(in: 2...UInt64(Int64.max)), validity: Self.validity(days: days),
      purpose: .signing,
      extensions: [
        CertificateBuilder.Extension(
          objectIdentifier: "2.5.29.17", value: Self.element(0x30, names))
      ]
    ).certificate(for: key, issuedBy: issuer)
    let pair = Pair(
      certificate: folder.file("\(name).crt"), key: folder.file("\(name).key"))
    try Data(CertificatePEM.encode(certificate)).write(to: URL(filePath: pair.certificate))
    try Data(key.privateKeyPEM()).write(to: URL(filePath: pair.key))
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: pair.key)
    return pair
  }

  private static func validity(days: Int64) -> ClosedRange<Int64> {
    let now = Int64(Date().timeIntervalSince1970)
    let end = now + days * day
    return min(now, end) - day...end
  }

  private static func element(_ tag: UInt8, _ contents: [UInt8]) -> [UInt8] {
    precondition(contents.count < 128, "a short length")
    return [tag, UInt8(contents.count)] + contents
  }
}
