import EntitlementDomain
import StoreSimulator
import Testing
import Verification

@Suite("Which authentic receipts are accepted")
struct ReceiptPolicyTests {
  private static func policy(_ environments: Set<StoreEnvironment>) -> VerificationPolicy {
    VerificationPolicy(apps: [
      VerificationPolicy.App(bundleID: "com.example.scribe", environments: environments)
    ])
  }

  @Test(
    arguments: [
      ("Production", .production), ("ProductionVPP", .production),
      ("ProductionSandbox", .sandbox), ("ProductionVPPSandbox", .sandbox), ("Xcode", .xcode),
    ] as [(String, StoreEnvironment)])
  func `the receipt type says which environment it is of`(
    type: String, environment: StoreEnvironment
  ) throws {
    let receipt = try ReceiptWorkshop.sign(ReceiptWorkshop.content.with(.text(0, type)))
    let verifier = ReceiptWorkshop.verifier
    let others = Set(StoreEnvironment.allCases).subtracting([environment])
    #expect(verdict(verifier, receipt, policy: Self.policy([environment])) == .ok)
    #expect(verdict(verifier, receipt, policy: Self.policy(others)) == .wrongEnvironment)
    // R9: the root must be named for this environment too.
    let all = Self.policy(TrustAnchor.allEnvironments)
    let rows: [(Set<StoreEnvironment>, Verdict)] = [
      ([environment], .ok), (others, .wrongEnvironment),
    ]
    for (named, expected) in rows {
      var anchors = TrustAnchors.apple
      anchors.trust(ReceiptWorkshop.authority.rootFingerprint, for: named)
      #expect(verdict(ReceiptVerifier(anchors: anchors), receipt, policy: all) == expected)
    }
  }

  @Test(arguments: ["LocalTesting", "production", "Production ", "ProductionXcode", "Sandbox"])
  func `other receipt types are of no environment`(type: String) throws {
    let receipt = try ReceiptWorkshop.sign(ReceiptWorkshop.content.with(.text(0, type)))
    let anything = VerificationPolicy(
      expectingBundleID: nil, environment: nil, appAppleID: nil)
    for policy in [Self.policy(Set(StoreEnvironment.allCases)), anything] {
      #expect(verdict(ReceiptWorkshop.verifier, receipt, policy: policy) == .wrongEnvironment)
    }
  }

  @Test func `the app is checked before the environment`() throws {
    let content = ReceiptWorkshop.content.with(.text(2, "com.example.other"))
      .with(.text(0, "Unheard of"))
    #expect(verdict(ReceiptWorkshop.verifier, try ReceiptWorkshop.sign(content)) == .wrongApp)
  }

  @Test func `Xcode's own are not believed under Apple's root`() throws {
    var receipt = Receipt(
      receiptType: "Xcode", bundleID: "com.example.scribe", bundleIDBytes: [],
      creationDate: ReceiptWorkshop.creationDate)
    let policy = Self.policy(Set(StoreEnvironment.allCases))
    #expect(throws: Refusal.self) { try policy.check(receipt, under: .apple) }
    try policy.check(receipt, under: .named(for: [.xcode]))
    receipt.receiptType = "Production"
    try policy.check(receipt, under: .apple)
  }

  @Test func `expectations are met one by one`() throws {
    let receipt = try ReceiptWorkshop.sign()
    let verifier = ReceiptWorkshop.verifier
    func policy(_ app: BundleID?, _ environment: StoreEnvironment?) -> VerificationPolicy {
      VerificationPolicy(expectingBundleID: app, environment: environment, appAppleID: nil)
    }
    #expect(verdict(verifier, receipt, policy: policy(nil, nil)) == .ok)
    #expect(verdict(verifier, receipt, policy: policy("com.example.scribe", .sandbox)) == .ok)
    #expect(verdict(verifier, receipt, policy: policy("com.example.other", nil)) == .wrongApp)
    #expect(verdict(verifier, receipt, policy: policy(nil, .production)) == .wrongEnvironment)
  }
}
