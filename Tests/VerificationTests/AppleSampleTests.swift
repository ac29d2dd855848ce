import AppStorePayloads
import Cryptography
import EntitlementDomain
import Foundation
import JSON
import TestSupport
import Testing
import Verification

// Skipped where the folder of samples is absent; APPLE_SIGNED_SAMPLES names another one.
@Suite(
  "Real payloads of the App Store",
  .enabled(if: AppleSamples.arePresent, "the folder of Apple-signed samples is absent"))
struct AppleSampleTests {
  let verifier = JWSVerifier()
  let now = Milliseconds(Int64(Date.now.timeIntervalSince1970 * 1_000))

  @Test func `the manifest lists seventeen samples`() {
    #expect(AppleSamples.signed.count == 17)
  }

  @Test(arguments: AppleSamples.signed)
  func `each gets the verdict that the manifest expects`(entry: AppleSamples.Entry) throws {
    let expectation = try #require(entry.verifiedAs)
    // Renewal infos name no app, so "x" cannot be theirs, and is not held against them.
    let policy = VerificationPolicy(apps: [
      VerificationPolicy.App(
        bundleID: BundleID(expectation.bundleId),
        environments: [try #require(StoreEnvironment(rawValue: expectation.environment))])
    ])
    let expected: Verdict? =
      switch entry.verdictOffline {
      case "OK": .ok
      case "INVALID_ENVIRONMENT": .wrongEnvironment
      case "VERIFICATION_FAILURE": .certificateExpired
      default: nil
      }
    let jws = try AppleSamples.contents(of: entry)
    #expect(verdict(verifier, jws, policy: policy, now: now) == expected)
  }

  @Test(arguments: AppleSamples.signed)
  func `the kind is detected by the fields`(entry: AppleSamples.Entry) throws {
    let inspected = try verifier.inspect(try AppleSamples.contents(of: entry))
    let kind = entry.kind == "renewal" ? "renewalInfo" : entry.kind
    #expect(inspected.kind?.rawValue == kind)
    #expect(inspected.certificates.count == 3)
    #expect(inspected.certificates.last?.subject.contains("CN=Apple Root CA - G3") == true)
    #expect(
      inspected.certificates.last?.fingerprint.description
        == "sha256:63343abfb89a6a03ebb57e9b3f5fa7be7c4f5c756f3017b3a8c488c3653e9179")
  }

  @Test(arguments: AppleSamples.signed)
  func `without any expectation only the one without a date is refused`(
    entry: AppleSamples.Entry
  ) throws {
    let policy = VerificationPolicy(
      expectingBundleID: nil, environment: nil, appAppleID: nil)
    let jws = try AppleSamples.contents(of: entry)
    let expected: Verdict =
      entry.verdictOffline == "VERIFICATION_FAILURE" ? .certificateExpired : .ok
    let outcome: Verdict
    do {
      _ = try verifier.authenticate(jws, policy: policy, now: now)
      outcome = .ok
    } catch {
      outcome = error.verdict
    }
    #expect(outcome == expected)
  }

  @Test func `an environment that was not asked for is refused`() throws {
    let entry = try #require(
      AppleSamples.signed.first { $0.kind == "transaction" && $0.verdictOffline == "OK" })
    let expectation = try #require(entry.verifiedAs)
    let policy = VerificationPolicy(
      expectingBundleID: BundleID(expectation.bundleId), environment: .xcode, appAppleID: nil)
    #expect(
      verdict(verifier, try AppleSamples.contents(of: entry), policy: policy, now: now)
        == .wrongEnvironment)
  }

  @Test func `a payload signed by Apple is refused where Apple's root is not trusted`() throws {
    // Apple's roots are built in; a chain ending elsewhere is refused, and so is Apple's own
    // chain with its root replaced by another certificate of Apple.
    let entry = try #require(AppleSamples.signed.first { $0.verdictOffline == "OK" })
    let parts = String(decoding: try AppleSamples.contents(of: entry), as: UTF8.self)
      .split(separator: ".")
    let header = try JSONDocument(Base64Form.urlWithoutPadding.decode(parts[0].utf8))
    let chain = try #require(try PayloadFields(json: header.bytes).texts("x5c"))
    let forged = Header(x5c: [chain[0], chain[1], chain[1]]).segment
    let jws = Array("\(forged).\(parts[1]).\(parts[2])".utf8)
    #expect(verdict(verifier, jws, now: now) == .untrustedChain)
  }

  @Test func `the notification with an inner transaction yields both`() throws {
    let entry = try #require(
      AppleSamples.signed.first {
        $0.kind == "notification" && $0.verifiedAs?.environment == "Production"
      })
    let jws = try AppleSamples.contents(of: entry)
    let named = try PayloadDecoder.notification(
      try PayloadFields(json: verifier.inspect(jws).payload.bytes))
    let bundleID = try #require(named.bundleID)
    let policy = VerificationPolicy(apps: [
      VerificationPolicy.App(
        bundleID: bundleID, appAppleID: named.appAppleID, environments: [.production])
    ])
    let verified = try verifier.verify(jws, as: .notification, policy: policy, now: now)
    guard case .notification(let notification) = verified.content else {
      Issue.record("not a notification")
      return
    }
    #expect(notification.record.type == "CONSUMPTION_REQUEST")
    #expect(notification.record.scope?.environment == .production)
    #expect(notification.transaction?.fact.scope == notification.record.scope)
    #expect(notification.renewalInfo == nil)
    let other = VerificationPolicy(apps: [
      VerificationPolicy.App(bundleID: bundleID, appAppleID: 1, environments: [.production])
    ])
    #expect(verdict(verifier, jws, policy: other, now: now) == .wrongApp)
  }
}
