import Cryptography

/// What stands around the content of a receipt (CMS SignedData, RFC 5652 section 5), taken apart
/// but not judged. Of what the RFC allows it reads only what Apple writes, so that nothing is left
/// in which a receipt could be altered unseen.
struct ReceiptEnvelope: Sendable {
  let der: [UInt8]
  /// The octet string with the attributes.
  let content: DERElement
  let signature: DERElement
  /// The bytes of each, in the order of the receipt.
  let certificates: [Range<Int>]
  /// Names the signer's certificate: its issuer and serial number.
  let signerIdentifier: DERElement
  let digestAlgorithm: ReceiptAlgorithm
  /// The message's own list of hash functions, of which there is one.
  private let listedAlgorithm: ReceiptAlgorithm
  private let signatureAlgorithm: ReceiptAlgorithm
  private let hasSignedAttributes: Bool
  /// All that stands around the content and the signature and is not the same in every receipt.
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

  /// What tells one signer's receipts from another's: receipts with the same surroundings differ in
  /// content and signature only.
  var surroundings: [UInt8] { Array(der[parts.algorithms]) + der[parts.afterContent] }

  /// - Throws: ``Refusal`` with ``Verdict/unsupportedAlgorithm`` unless the content itself is
  ///   signed, with RSA and a hash function that is accepted.
  func checkAlgorithms() throws(Refusal) -> CMSDigest {
    guard let digest = digestAlgorithm.digest else {
      throw Refusal(.unsupportedAlgorithm, "the hash function is neither SHA-1 nor SHA-256")
    }
    guard signatureAlgorithm.isRSA(with: digest), listedAlgorithm == digestAlgorithm else {
      throw Refusal(
        .unsupportedAlgorithm, "not an RSA signature (PKCS#1 v1.5) with the signer's hash function")
    }
    // With them the signature is over attributes of which one is the hash of the content. Apple's
    // receipts have none, and to read a signature in both ways is to let one kind pass for the
    // other.
    guard !hasSignedAttributes else {
      throw Refusal(.unsupportedAlgorithm, "attributes are signed instead of the content")
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

  /// What a ContentInfo holds (RFC 5652 section 3), and an EncapsulatedContentInfo likewise
  /// (section 5.2): the type, then one element in an explicit tag.
  private static func contents(
    of information: DERElement, in der: [UInt8], type: [UInt8], _ tag: UInt8, _ name: StaticString
  ) throws(Refusal) -> DERElement {
    var reader = DERReader(der, inside: information)
    let stated = try reader.next(DERTag.objectIdentifier, name)
    guard der[stated.contents].elementsEqual(type) else {
      throw Refusal(.malformed, "something of another type than \(name)")
    }
    let explicit = try reader.next(DERTag.context(0), name)
    try reader.expectEnd(of: name)
    var inside = DERReader(der, inside: explicit)
    let contents = try inside.next(tag, name)
    try inside.expectEnd(of: name)
    return contents
  }

  /// Version 1 is the form without anything that receipts do not have (RFC 5652 section 5.1).
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

  /// None when the message has none. That they are certificates is not looked at.
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
