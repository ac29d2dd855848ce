import Cryptography
import EntitlementDomain
import StoreSimulator
import Verification

/// A simulated App Store whose certificates name the addresses at which their status is asked for.
struct StatusAuthority {
  /// Wider than the times of all tests.
  static let validity: ClosedRange<Int64> = 1_500_000_000...4_102_444_799
  /// The serial number of the intermediate certificate.
  static let intermediateSerial: UInt64 = 0x10

  let root: SigningAuthority.Member
  let intermediate: SigningAuthority.Member
  /// One for all leaves: making keys takes time.
  private let leafKey: SigningKey

  /// - Parameter intermediateAddress: responder URL of the intermediate certificate; nil for
  ///   none.
  init(intermediateAddress: String? = nil, root: SigningAuthority.Member? = nil) throws {
    let root = try root ?? Self.makeRoot()
    self.root = root
    let key = try SigningKey.generate(.p384)
    intermediate = SigningAuthority.Member(
      certificate: try Self.builder(
        "Status Intermediate", serial: Self.intermediateSerial, .authority(pathLength: 0),
        mark: SigningAuthority.intermediateMark, address: intermediateAddress
      ).certificate(for: key, issuedBy: root.issuer),
      key: key)
    leafKey = try SigningKey.generate(.p256)
  }

  static func makeRoot() throws -> SigningAuthority.Member {
    let key = try SigningKey.generate(.p384)
    return SigningAuthority.Member(
      certificate: try builder("Status Root", serial: 1, .authority(pathLength: nil))
        .certificate(for: key),
      key: key)
  }

  func leaf(
    serial: UInt64, address: String?, validity: ClosedRange<Int64> = Self.validity
  ) throws -> SigningAuthority.Member {
    SigningAuthority.Member(
      certificate: try Self.builder(
        "Status Leaf \(serial)", serial: serial, .signing, mark: SigningAuthority.leafMark,
        address: address, validity: validity
      ).certificate(for: leafKey, issuedBy: intermediate.issuer),
      key: leafKey)
  }

  func chain(
    serial: UInt64, address: String?, validity: ClosedRange<Int64> = Self.validity
  ) throws -> CertificateChain {
    try chain(leaf: leaf(serial: serial, address: address, validity: validity))
  }

  func chain(leaf: SigningAuthority.Member) throws -> CertificateChain {
    try CertificateChain(
      [leaf, intermediate, root].map { try Certificate(der: $0.certificate) })
  }

  /// What signs payloads with this leaf.
  func signer(leaf: SigningAuthority.Member) throws -> SigningAuthority {
    try SigningAuthority(root: root, intermediate: intermediate, leaf: leaf)
  }

  /// Signs status answers for the intermediate certificate's authority.
  ///
  /// - Parameters:
  ///   - isForStatus: whether its certificate says that it may.
  ///   - issuer: nil: the intermediate certificate.
  func delegate(
    isForStatus: Bool = true, issuer: SigningAuthority.Member? = nil,
    validity: ClosedRange<Int64> = Self.validity
  ) throws -> SigningAuthority.Member {
    let key = try SigningKey.generate(.p256)
    var builder = Self.builder("Status Delegate", serial: 0x77, .signing, validity: validity)
    if isForStatus { builder.extensions.append(StatusExtension.statusSigning) }
    return SigningAuthority.Member(
      certificate: try builder.certificate(
        for: key, issuedBy: (issuer ?? intermediate).issuer),
      key: key)
  }

  var anchors: TrustAnchors {
    get throws {
      var anchors = TrustAnchors.apple
      anchors.trust(
        try Certificate(der: root.certificate).fingerprint, for: TrustAnchor.allEnvironments)
      return anchors
    }
  }

  private static func builder(
    _ name: String, serial: UInt64, _ purpose: CertificateBuilder.Purpose, mark: String? = nil,
    address: String? = nil, validity: ClosedRange<Int64> = Self.validity
  ) -> CertificateBuilder {
    var extensions = mark.map { [CertificateBuilder.Extension(objectIdentifier: $0)] } ?? []
    if let address { extensions.append(StatusExtension.responder(at: [address])) }
    return CertificateBuilder(
      subject: DistinguishedName(commonName: name, organization: "Example"), serialNumber: serial,
      validity: validity, purpose: purpose, extensions: extensions)
  }
}

/// Extensions of certificates that have to do with their status.
enum StatusExtension {
  /// id-kp-OCSPSigning (RFC 6960 section 4.2.2.2).
  static let statusSigning = CertificateBuilder.Extension(
    objectIdentifier: "2.5.29.37",
    value: [0x30, 0x0a, 0x06, 0x08, 0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x09])

  /// id-ad-ocsp of the authority's information (RFC 5280 section 4.2.2.1).
  static func responder(at addresses: [String]) -> CertificateBuilder.Extension {
    let descriptions = addresses.flatMap { address in
      tagged(
        0x30,
        [0x06, 0x08, 0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x30, 0x01]
          + tagged(0x86, Array(address.utf8)))
    }
    return CertificateBuilder.Extension(
      objectIdentifier: "1.3.6.1.5.5.7.1.1", value: tagged(0x30, descriptions))
  }

  /// DER, for contents of less than 64 KiB.
  private static func tagged(_ tag: UInt8, _ contents: [UInt8]) -> [UInt8] {
    let count = contents.count
    let length: [UInt8] =
      count < 128 ? [UInt8(count)] : [0x82, UInt8(count >> 8), UInt8(count & 0xff)]
    return [tag] + length + contents
  }
}
