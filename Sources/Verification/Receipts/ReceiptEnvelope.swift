import Cryptography

/// The CMS SignedData envelope of a receipt (RFC 5652 section 5), parsed but not verified. Only the
/// subset that Apple uses is accepted, so that no unchecked part of a receipt can be altered.
struct ReceiptEnvelope: Sendable {
  let der: [UInt8]
  /// The octet string with the attributes.
  let content: DERElement
  let signature: DERElement
  /// The position of each certificate, in order.
  let certificates: [Range<Int>]
  /// Issuer and serial number of the signer's certificate.
  let signerIdentifier: DERElement
  let digestAlgorithm: ReceiptAlgorithm
  /// The only element of the message's list of hash functions.
  private let listedAlgorithm: ReceiptAlgorithm
  private let signatureAlgorithm: ReceiptAlgorithm
  private let hasSignedAttributes: Bool
  /// The variable parts other than the content and the signature.
  private let parts: (algorithms: Range<Int>, afterContent: Range<Int>)

  // 1.2.840.113549.1.7.2 and .1.
  private static let signedData: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x02]
  private static let data: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x01]

  /// - Throws: ``Refusal`` with ``Verdict/malformed``.
  init(_ der: [UInt8]) throws(Refusal) {
    self.der = der
    var message = try Self.signedData(in: der)
    try Self.readVersion(&message, "version of the signed data")
    let algorithms = try message.next(DERTag.set, "set of hash functions")
    content = try Self.content(try message.next(DERTag.sequence, "content"), in: der)
    certificates = try Self.certificates(&message, in: der)
    let signers = try message.next(DERTag.set, "set of signers")
    try message.expectEnd(of: "signed data")

    var signer = try Self.signer(signers, in: der)
    try Self.readVersion(&signer, "version of the signer")
    signerIdentifier = try signer.next(
      DERTag.sequence, "issuer and serial number of the signer's certificate")
    digestAlgorithm = try ReceiptAlgorithm(&signer, in: der, "signer's hash function")
    hasSignedAttributes = signer.nextTag == DERTag.context(0)
    if hasSignedAttributes { _ = try signer.next() }
    signatureAlgorithm = try ReceiptAlgorithm(&signer, in: der, "signature algorithm")
    signature = try signer.next(DERTag.octetString, "signature")
    try signer.expectEnd(of: "signature")

    var list = DERReader(der, inside: algorithms)
    listedAlgorithm = try ReceiptAlgorithm(&list, in: der, "hash function")
    try list.expectEnd(of: "set of hash functions")

    parts = (algorithms.range, content.range.upperBound..<signature.contents.lowerBound)
    guard
      parts.algorithms.count + parts.afterContent.count
        <= VerificationLimits.receiptEnvelopeLength
    else {
      throw Refusal(
        .malformed, "more than \(VerificationLimits.receiptEnvelopeLength) bytes around the content"
      )
    }
  }

  /// The cache key of the signer. Receipts with the same key differ only in content and signature.
  var cacheKey: [UInt8] { Array(der[parts.algorithms]) + der[parts.afterContent] }

  /// - Throws: ``Refusal`` with ``Verdict/unsupportedAlgorithm`` unless the content is signed
  ///   directly, with RSA and an accepted hash function.
  func checkAlgorithms() throws(Refusal) -> CMSDigest {
    guard let digest = digestAlgorithm.digest else {
      throw Refusal(.unsupportedAlgorithm, "the hash function is neither SHA-1 nor SHA-256")
    }
    guard signatureAlgorithm.isRSA(with: digest), listedAlgorithm == digestAlgorithm else {
      throw Refusal(
        .unsupportedAlgorithm, "not an RSA signature (PKCS#1 v1.5) with the signer's hash function")
    }
    // With signed attributes, the signature covers the attributes, which include the hash of the
    // content. Apple's receipts have none. If both forms were accepted, one could be presented as
    // the other.
    guard !hasSignedAttributes else {
      throw Refusal(.unsupportedAlgorithm, "signed attributes are not supported")
    }
    return digest
  }

  private static func signedData(in der: [UInt8]) throws(Refusal) -> DERReader {
    var whole = DERReader(der)
    let message = try whole.next(DERTag.sequence, "CMS message")
    try whole.expectEnd(of: "CMS message")
    let sequence = try contents(
      of: message, in: der, type: signedData, DERTag.sequence, "signed data of a CMS message")
    return DERReader(der, inside: sequence)
  }

  /// The element inside a ContentInfo (RFC 5652 section 3) or an EncapsulatedContentInfo (section
  /// 5.2). Both have a type, then one element in an explicit tag.
  private static func contents(
    of information: DERElement, in der: [UInt8], type: [UInt8], _ tag: UInt8, _ name: StaticString
  ) throws(Refusal) -> DERElement {
    var reader = DERReader(der, inside: information)
    let stated = try reader.next(DERTag.objectIdentifier, name)
    guard der[stated.contents].elementsEqual(type) else {
      throw Refusal(.malformed, "expected \(name), found another content type")
    }
    let explicit = try reader.next(DERTag.context(0), name)
    try reader.expectEnd(of: name)
    var inside = DERReader(der, inside: explicit)
    let contents = try inside.next(tag, name)
    try inside.expectEnd(of: name)
    return contents
  }

  /// Version 1 excludes features that receipts do not use (RFC 5652 section 5.1).
  private static func readVersion(
    _ reader: inout DERReader, _ name: StaticString
  ) throws(Refusal) {
    guard try reader.integer(name) == 1 else { throw Refusal(.malformed, "the \(name) is not 1") }
  }

  private static func content(
    _ information: DERElement, in der: [UInt8]
  ) throws(Refusal) -> DERElement {
    try contents(
      of: information, in: der, type: data, DERTag.octetString, "content in one octet string")
  }

  /// Empty if the message has none. The certificates are not parsed here.
  private static func certificates(
    _ message: inout DERReader, in der: [UInt8]
  ) throws(Refusal) -> [Range<Int>] {
    guard message.nextTag == DERTag.context(0) else { return [] }
    var reader = DERReader(der, inside: try message.next())
    var certificates: [Range<Int>] = []
    while !reader.isAtEnd {
      certificates.append(try reader.next(DERTag.sequence, "certificate").range)
      guard certificates.count <= VerificationLimits.certificates else {
        throw Refusal(
          .invalidCertificate, "more than \(VerificationLimits.certificates) certificates")
      }
    }
    return certificates
  }

  private static func signer(
    _ signers: DERElement, in der: [UInt8]
  ) throws(Refusal) -> DERReader {
    var reader = DERReader(der, inside: signers)
    let signer = try reader.next(DERTag.sequence, "signer")
    guard reader.isAtEnd else { throw Refusal(.malformed, "more than one signer") }
    return DERReader(der, inside: signer)
  }
}

extension ReceiptEnvelope {
  /// - Throws: ``Refusal`` with ``Verdict/invalidCertificate`` when there is none or one cannot be
  ///   parsed.
  func readCertificates() throws(Refusal) -> [Certificate] {
    guard !certificates.isEmpty else {
      throw Refusal(.invalidCertificate, "the receipt contains no certificate")
    }
    var read: [Certificate] = []
    for (index, range) in certificates.enumerated() {
      do {
        read.append(try Certificate(der: Array(der[range])))
      } catch {
        throw Refusal(error, as: .invalidCertificate, in: "certificate \(index + 1)")
      }
    }
    return read
  }
}
