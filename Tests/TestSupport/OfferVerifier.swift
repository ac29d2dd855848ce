import Foundation

/// `Tests/OfferVerifier`: an implementation of Apple's pages about signed offers that is not ours.
package enum OfferVerifier {
  /// A signed offer, with all that it must state. Members are those of the script.
  package struct Case: Encodable {
    package var form: String
    package var bundleId: String
    package var keyId: String
    package var issuerId: String
    package var productId: String
    package var offerId: String?
    package var appAccountToken: String?
    package var transactionId: String?
    package var allowed: Bool?
    package var from: Int64
    package var until: Int64
    package var answer: Answer

    /// - Parameter form: `v1`, `v2` or `introductory`.
    package init(
      _ form: String, bundleID: String, keyID: String, issuerID: String, productID: String,
      offerID: String? = nil, appAccountToken: String? = nil, transactionID: String? = nil,
      allowed: Bool? = nil, signed moments: ClosedRange<Int64>, _ answer: Answer
    ) {
      self.form = form
      bundleId = bundleID
      keyId = keyID
      issuerId = issuerID
      productId = productID
      offerId = offerID
      self.appAccountToken = appAccountToken
      transactionId = transactionID
      self.allowed = allowed
      from = moments.lowerBound
      until = moments.upperBound
      self.answer = answer
    }
  }

  /// The members of a `SignOfferResponse` that the script reads.
  package struct Answer: Codable {
    package var signature: String
    package var keyId: String
    package var nonce: String
    package var timestampMs: String
    package var expiresAtMs: String?
    package var allowIntroductoryOffer: Bool?

    package init(
      signature: String, keyID: String, nonce: String, timestamp: Int64, expiresAt: Int64?,
      allowsIntroductoryOffer: Bool? = nil
    ) {
      self.signature = signature
      keyId = keyID
      self.nonce = nonce
      timestampMs = "\(timestamp)"
      expiresAtMs = expiresAt.map { "\($0)" }
      allowIntroductoryOffer = allowsIntroductoryOffer
    }
  }

  /// Verifies offers with a key.
  ///
  /// - Parameter privateKeyPEM: the key that signed; the script gets its public part only.
  /// - Returns: what the script printed, and its exit code.
  package static func verify(
    _ cases: [Case], privateKeyPEM: String, in folder: TemporaryFolder
  ) throws -> (output: String, status: Int32) {
    let key = try folder.write(privateKeyPEM, to: "offer-key.pem")
    let publicKey = folder.file("offer-public-key.pem")
    let extraction = try run(
      "openssl", ["pkey", "-in", key, "-pubout", "-out", publicKey], input: Data())
    guard extraction.status == 0 else { return extraction }
    let encoder = JSONEncoder()
    let lines = try cases.map { String(decoding: try encoder.encode($0), as: UTF8.self) }
    return try run(
      "python3", [script, publicKey], input: Data((lines.joined(separator: "\n") + "\n").utf8))
  }

  private static let script = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "OfferVerifier/verify_offers.py").path

  private static func run(
    _ program: String, _ arguments: [String], input: Data
  ) throws -> (output: String, status: Int32) {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [program] + arguments
    let (output, given) = (Pipe(), Pipe())
    process.standardInput = given
    process.standardOutput = output
    process.standardError = output
    try process.run()
    // The script prints nothing before it has read everything, so neither pipe waits for the other.
    try given.fileHandleForWriting.write(contentsOf: input)
    try given.fileHandleForWriting.close()
    let text = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return (String(decoding: text, as: UTF8.self), process.terminationStatus)
  }
}
