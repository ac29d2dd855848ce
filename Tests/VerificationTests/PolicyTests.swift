import AppStorePayloads
import Cryptography
import EntitlementDomain
import StoreSimulator
import TestSupport
import Testing

@testable import Verification

@Suite("Accepted apps and environments")
struct PolicyTests {
  let workshop = Workshop.shared
  let verifier = Workshop.shared.verifier

  private func policy(
    _ environments: Set<StoreEnvironment>, of bundleID: BundleID = "com.example.scribe",
    appAppleID: Int64? = nil
  ) -> VerificationPolicy {
    VerificationPolicy(apps: [
      VerificationPolicy.App(
        bundleID: bundleID, appAppleID: appAppleID, environments: environments)
    ])
  }

  @Test func `the app is checked before the environment`() throws {
    let jws = try workshop.sign(.transaction())
    let table: [(VerificationPolicy, Verdict)] = [
      (policy([.sandbox]), .ok),
      (policy([.production, .sandbox]), .ok),
      (policy([.production]), .wrongEnvironment),
      (policy([]), .wrongEnvironment),
      (policy([.sandbox], of: "com.example.other"), .wrongApp),
      (policy([.production], of: "com.example.other"), .wrongApp),
      (policy([.sandbox], of: "COM.example.scribe"), .wrongApp),
      (VerificationPolicy(apps: []), .wrongApp),
    ]
    for (policy, expected) in table {
      #expect(verdict(verifier, jws, policy: policy) == expected)
    }
  }

  @Test func `app and environment are checked only after the signature`() throws {
    let header = Header(x5c: workshop.chain)
    let jws = try workshop.sign(header: header, key: Workshop.twin.authority.leaf.key)
    #expect(verdict(verifier, jws, policy: VerificationPolicy(apps: [])) == .invalidSignature)
  }

  @Test func `a renewal info needs one app that accepts its environment`() throws {
    let jws = try workshop.sign(.renewalInfo())
    #expect(verdict(verifier, jws, policy: policy([.sandbox], of: "com.example.other")) == .ok)
    #expect(verdict(verifier, jws, policy: policy([.production])) == .wrongEnvironment)
    #expect(verdict(verifier, jws, policy: VerificationPolicy(apps: [])) == .wrongEnvironment)
  }

  @Test(arguments: [#""""#, nil, "null", #""Staging""#, #""sandbox""#])
  func `an environment that is absent or unknown is wrong`(environment: String?) throws {
    for (payload, field) in [
      (Payload.transaction(), "environment"), (.renewalInfo(), "environment"),
      (.appTransaction(), "receiptType"),
    ] {
      let jws = try workshop.sign(payload.with(field, environment))
      #expect(
        verdict(verifier, jws, policy: policy(Set(StoreEnvironment.allCases)))
          == .wrongEnvironment)
    }
  }

  @Test(arguments: [nil, "null", #""""#])
  func `a payload without a bundle id is for no app`(bundleID: String?) throws {
    for payload in [Payload.transaction(), .appTransaction()] {
      let jws = try workshop.sign(payload.with("bundleId", bundleID))
      #expect(verdict(verifier, jws) == .wrongApp)
    }
  }

  @Test func `the app Apple id is held against Production alone`() throws {
    func appTransaction(_ environment: String, _ appAppleID: String?) throws -> [UInt8] {
      try workshop.sign(
        Payload.appTransaction().with("receiptType", "\"\(environment)\"")
          .with("appAppleId", appAppleID))
    }
    let strict = policy([.production, .sandbox], appAppleID: 1_234_567_890)
    let table: [(String, String?, Verdict)] = [
      ("Production", "1234567890", .ok), ("Production", "1", .wrongApp),
      ("Production", "0", .wrongApp), ("Production", nil, .wrongApp),
      ("Sandbox", "1", .ok), ("Sandbox", "0", .ok), ("Sandbox", nil, .ok),
    ]
    for (environment, appAppleID, expected) in table {
      let jws = try appTransaction(environment, appAppleID)
      #expect(verdict(verifier, jws, policy: strict) == expected)
    }
    // Where none is configured, any will do; transactions carry none.
    let lenient = policy([.production])
    #expect(verdict(verifier, try appTransaction("Production", nil), policy: lenient) == .ok)
    let transaction = try workshop.sign(
      Payload.transaction().with("environment", #""Production""#))
    #expect(verdict(verifier, transaction, policy: strict) == .ok)
  }

  @Test(arguments: ["Xcode", "LocalTesting"])
  func `R9: a local environment needs a root that the operator named, and the policy's consent`(
    environment: String
  ) throws {
    let local = try #require(StoreEnvironment(rawValue: environment))
    let jws = try workshop.sign(Payload.transaction().with("environment", "\"\(environment)\""))
    #expect(verdict(verifier, jws, policy: policy([local])) == .ok)
    #expect(verdict(verifier, jws, policy: policy([.sandbox])) == .wrongEnvironment)
    // Apple's roots do not include this authority.
    #expect(verdict(JWSVerifier(), jws, policy: policy([local])) == .untrustedChain)
    // And the signature always counts.
    let altered = withAlteredSignature(jws)
    #expect(verdict(verifier, altered, policy: policy([local])) == .invalidSignature)
  }

  /// Apple's roots, and named ones for every set of environments.
  private static let everyAnchor =
    [TrustAnchor.apple]
    + (0..<1 << StoreEnvironment.allCases.count).map { mask in
      let chosen = StoreEnvironment.allCases.enumerated().filter { mask >> $0.offset & 1 == 1 }
      return .named(for: Set(chosen.map(\.element)))
    }

  @Test(arguments: everyAnchor)
  func `R9: Apple's roots stand for the App Store's environments, a named one for its own`(
    anchor: TrustAnchor
  ) throws {
    let trusted = anchor.isNamed ? anchor.environments : [.production, .sandbox]
    let everything = [
      policy(Set(StoreEnvironment.allCases)),
      VerificationPolicy(expectingBundleID: nil, environment: nil, appAppleID: nil),
    ]
    for environment in StoreEnvironment.allCases {
      let payload = Payload.transaction().with("environment", "\"\(environment.rawValue)\"")
      let claims = try PayloadClaims(
        try PayloadFields(json: payload.bytes), kind: .transaction)
      for policy in everything {
        var verdict = Verdict.ok
        do throws(Refusal) {
          try policy.check(claims, under: anchor)
        } catch {
          verdict = error.verdict
        }
        #expect(verdict == (trusted.contains(environment) ? .ok : .wrongEnvironment))
      }
    }
  }

  @Test func `R9: without Apple's roots only what the operator names is trusted`() throws {
    for environment in StoreEnvironment.allCases {
      #expect(!TrustAnchors.none.trusts(environment))
      #expect(
        TrustAnchors.apple.trusts(environment) == [.production, .sandbox].contains(environment))
      var anchors = TrustAnchors.none
      try anchors.trust(
        setting: "\(environment.optionName)=sha256:" + String(repeating: "1", count: 64),
        reading: { _ in [] })
      for other in StoreEnvironment.allCases {
        #expect(anchors.trusts(other) == (other == environment))
      }
    }
    var anchors = TrustAnchors.none
    // Of Apple Root CA - G3.
    let apple = "63343abfb89a6a03ebb57e9b3f5fa7be7c4f5c756f3017b3a8c488c3653e9179"
    try anchors.trust(setting: "sha256:\(apple)", reading: { _ in [] })
    #expect(!anchors.trusts(.production) && anchors.trusts(.sandbox))
  }

  @Test func `expectations that are not given are not checked`() throws {
    let jws = try workshop.sign(.transaction())
    let bare = try workshop.sign(Payload.transaction().with("environment", nil))
    func authenticated(_ jws: [UInt8], _ policy: VerificationPolicy) -> Verdict {
      do {
        _ = try verifier.authenticate(jws, policy: policy, now: 0)
        return .ok
      } catch {
        return error.verdict
      }
    }
    func expecting(_ bundleID: BundleID?, _ environment: StoreEnvironment?) -> VerificationPolicy {
      VerificationPolicy(
        expectingBundleID: bundleID, environment: environment, appAppleID: nil)
    }
    #expect(authenticated(jws, expecting(nil, nil)) == .ok)
    #expect(authenticated(jws, expecting("com.example.scribe", .sandbox)) == .ok)
    #expect(authenticated(jws, expecting("com.example.other", nil)) == .wrongApp)
    #expect(authenticated(jws, expecting(nil, .production)) == .wrongEnvironment)
    #expect(authenticated(bare, expecting(nil, nil)) == .ok)
    #expect(authenticated(bare, expecting(nil, .sandbox)) == .wrongEnvironment)
    // A fact needs an environment in any case (R9).
    #expect(verdict(verifier, bare, policy: expecting(nil, nil)) == .wrongEnvironment)
  }

  @Test func `a scope is accepted where its app and environment are`() {
    let policy = policy([.sandbox])
    let table: [(BundleID, StoreEnvironment, Bool)] = [
      ("com.example.scribe", .sandbox, true), ("com.example.scribe", .production, false),
      ("com.example.other", .sandbox, false),
    ]
    for (bundleID, environment, expected) in table {
      let scope = AppScope(bundleID: bundleID, environment: environment)
      #expect(policy.accepts(scope) == expected)
    }
  }
}
