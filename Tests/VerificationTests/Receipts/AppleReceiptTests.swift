import Cryptography
import EntitlementDomain
import StoreSimulator
import TestSupport
import Testing
import Verification

// Skipped where the folder of samples is absent; APPLE_SIGNED_SAMPLES names another one.
@Suite(
  "Real receipts of the App Store",
  .enabled(if: AppleSamples.arePresent, "the folder of Apple-signed samples is absent"))
struct AppleReceiptTests {
  private static let anything = VerificationPolicy(
    expectingBundleID: nil, environment: nil, appAppleID: nil)

  @Test func `the manifest lists fourteen receipts`() {
    #expect(AppleSamples.receipts.count == 14)
  }

  @Test(arguments: AppleSamples.receipts)
  func `each is what the manifest says`(sample: AppleSamples.Receipt) throws {
    let fields = sample.fields
    let environment = try #require(
      ["Production": StoreEnvironment.production, "ProductionSandbox": .sandbox][
        fields.receiptType])
    let policy = VerificationPolicy(apps: [
      VerificationPolicy.App(bundleID: BundleID(fields.bundleId), environments: [environment])
    ])
    let verified = try ReceiptVerifier(anchors: .apple).verify(
      try sample.contents(), policy: policy)
    let receipt = verified.receipt
    #expect(receipt.receiptType == fields.receiptType)
    #expect(receipt.environment == environment)
    #expect(receipt.bundleID.rawValue == fields.bundleId)
    #expect(receipt.applicationVersion == fields.applicationVersion)
    #expect(receipt.originalApplicationVersion == fields.originalApplicationVersion)
    #expect(receipt.creationDate.rfc3339 == fields.receiptCreationDate)
    #expect(receipt.originalPurchaseDate?.rfc3339 == fields.originalPurchaseDate)
    #expect(receipt.expirationDate == nil)
    #expect(receipt.items.count == sample.purchases ?? 0)
    #expect(receipt.deviceHash.count == SHA1.length)
    #expect(!receipt.opaqueValue.isEmpty)

    let facts = try verified.facts.map { try $0.get().fact }
    #expect(facts.count == receipt.items.count + 1)
    #expect(facts.allSatisfy { $0.authority == .receipt })
    #expect(
      facts.allSatisfy {
        $0.scope == AppScope(bundleID: receipt.bundleID, environment: environment)
      })
    #expect(facts.allSatisfy { $0.precedence.signedDate == receipt.creationDate })
  }

  @Test(arguments: AppleSamples.receipts)
  func `each is held to the app and the environment that are accepted`(
    sample: AppleSamples.Receipt
  ) throws {
    let verifier = ReceiptVerifier(anchors: .apple)
    let receipt = try sample.contents()
    let bundleID = BundleID(sample.fields.bundleId)
    let others: Set<StoreEnvironment> =
      sample.fields.receiptType == "Production" ? [.sandbox] : [.production]
    let elsewhere = VerificationPolicy(apps: [
      VerificationPolicy.App(bundleID: bundleID, environments: others)
    ])
    #expect(verdict(verifier, receipt, policy: elsewhere) == .wrongEnvironment)
    #expect(verdict(verifier, receipt, policy: .scribe) == .wrongApp)
    #expect(verdict(verifier, receipt, policy: Self.anything) == .ok)
    // No device has none.
    #expect(verdict(verifier, receipt, policy: Self.anything, device: [1]) == .wrongDevice)
  }

  @Test(arguments: AppleSamples.receipts)
  func `base64 of it means the same`(sample: AppleSamples.Receipt) throws {
    let der = try sample.contents()
    let text = Base64Form.standard.encode(der)
    let verifier = ReceiptVerifier(anchors: .apple)
    let direct = try verifier.verify(der, policy: Self.anything)
    let decoded = try verifier.verify(text, policy: Self.anything)
    #expect(direct.receipt == decoded.receipt)
    #expect(direct.facts == decoded.facts)
  }

  @Test(arguments: AppleSamples.receipts)
  func `each can be looked at`(sample: AppleSamples.Receipt) throws {
    let inspected = try InspectedReceipt(try sample.contents())
    #expect(inspected.receipt.bundleID.rawValue == sample.fields.bundleId)
    #expect(inspected.digestAlgorithm == (sample.digest == "sha1" ? "SHA-1" : "SHA-256"))
    #expect(inspected.certificates.count == 3)
    #expect(
      inspected.certificates.last?.fingerprint.description
        == "sha256:b0b1730ecbc7ff4505142c49f1295e6eda6bcaed7e2c68c5be91b5a11001f024")
  }

  @Test func `each was made while its certificate was valid, which ends before 2027-01-15`() throws
  {
    // So that judging at another moment than the creation date would show.
    for sample in AppleSamples.receipts {
      let inspected = try InspectedReceipt(try sample.contents())
      let leaf = try #require(inspected.certificates.first)
      #expect(leaf.validFrom <= inspected.receipt.creationDate, "\(sample)")
      #expect(inspected.receipt.creationDate <= leaf.validUntil, "\(sample)")
      #expect(leaf.validUntil < 1_800_000_000_000, "\(sample)")
    }
  }

  @Test func `without Apple's root none is believed`() throws {
    var anchors = TrustAnchors.apple
    anchors.trust(ReceiptWorkshop.authority.rootFingerprint, for: TrustAnchor.allEnvironments)
    let sample = try #require(AppleSamples.receipts.first)
    var tree = MessageTree(try sample.contents())
    tree.certificates[2] = DERNode(
      parsing: ReceiptWorkshop.authority.root.certificate)
    #expect(
      verdict(ReceiptVerifier(anchors: anchors), tree.encoded, policy: Self.anything)
        == .untrustedChain)
  }

  @Test func `the tree of a test writes what it read`() throws {
    for sample in AppleSamples.receipts {
      let der = try sample.contents()
      #expect(MessageTree(der).encoded == der, "\(sample)")
    }
  }

  @Test func `the longest has 38 purchases in one chain of statements`() throws {
    let sample = try #require(AppleSamples.receipts.first { $0.purchases == 38 })
    let verified = try ReceiptVerifier(anchors: .apple).verify(
      try sample.contents(), policy: Self.anything)
    let facts = try verified.facts.map { try $0.get() }
    let aliases = Set(
      facts.map { signed -> AppTransactionID? in
        switch signed.fact {
        case .transaction(let fact): fact.appTransactionID
        case .appTransaction(let fact): fact.appTransactionID
        case .renewalInfo: nil
        }
      })
    #expect(aliases.count == 1)
    #expect(aliases.first??.rawValue.hasPrefix("receipt:") == true)
    #expect(Set(facts.map(\.fact.key)).count == facts.count)
    #expect(Set(facts.map(\.signed.proof)).count == 1)
  }
}
