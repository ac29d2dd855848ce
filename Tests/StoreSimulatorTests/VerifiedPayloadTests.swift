import EntitlementDomain
import StoreSimulator
import Testing
import Verification

@Suite("Verifiers that trust the simulator's root accept its payloads")
struct VerifiedPayloadTests {
  private static let authority = Result { try SigningAuthority.generate() }
  private static let policy = VerificationPolicy(apps: [
    VerificationPolicy.App(
      bundleID: SimulatedApp.bundleID, appAppleID: SimulatedApp.appAppleID,
      environments: [.production])
  ])

  private static func verifier() throws -> JWSVerifier {
    var anchors = TrustAnchors.apple
    anchors.trust(try authority.get().rootFingerprint, for: TrustAnchor.allEnvironments)
    return JWSVerifier(anchors: anchors)
  }

  @Test("Every payload of every life cycle verifies", arguments: LifeCycle.allCases)
  func everything(lifeCycle: LifeCycle) throws {
    let authority = try Self.authority.get()
    let verifier = try Self.verifier()
    let timeline = Timeline(lifeCycle, seed: 11, start: TimelineTests.starts[0])
    for (event, signed) in zip(timeline.events, try authority.sign(timeline.events)) {
      #expect(signed.facts.count == Self.factCount(of: event))
      for jws in signed.facts {
        let payload = try verifier.verify(Array(jws.utf8), policy: Self.policy, now: event.at)
        #expect(payload.kind != .notification)
      }
      guard let expected = event.notification, let jws = signed.notification else {
        #expect(event.notification == nil && signed.notification == nil)
        continue
      }
      let payload = try verifier.verify(
        Array(jws.utf8), as: .notification, policy: Self.policy, now: event.at)
      guard case .notification(let notification) = payload.content else {
        Issue.record("not a notification")
        continue
      }
      #expect(notification.record.uuid == expected.uuid)
      #expect(notification.record.type == expected.type)
      #expect(notification.record.subtype == expected.subtype)
      #expect(notification.record.status == expected.status)
      #expect(
        notification.facts.count + signed.factsOutsideNotification.count == signed.facts.count)
    }
  }

  @Test("Verifiers that trust only Apple or another authority refuse everything")
  func untrusted() throws {
    let jws = try Self.authority.get().sign(
      Timeline(.nonConsumable, seed: 11, start: TimelineTests.starts[0]).events)[0].facts[0]
    var anchors = TrustAnchors.apple
    anchors.trust(try SigningAuthority.generate().rootFingerprint, for: TrustAnchor.allEnvironments)
    for verifier in [JWSVerifier(), JWSVerifier(anchors: anchors)] {
      let refusal = #expect(throws: Refusal.self) {
        try verifier.verify(Array(jws.utf8), policy: Self.policy, now: TimelineTests.starts[0])
      }
      #expect(refusal?.verdict == .untrustedChain)
    }
  }

  @Test("Signatures hold over the whole range of the simulated clock")
  func range() throws {
    let verifier = try Self.verifier()
    for start in [SimulatedCalendar.range.lowerBound, SimulatedCalendar.range.upperBound] {
      for event in try Self.authority.get().sign(Timeline(.grace, seed: 1, start: start).events) {
        for jws in event.facts {
          _ = try verifier.verify(Array(jws.utf8), policy: Self.policy, now: start)
        }
      }
    }
  }

  private static func factCount(of event: StoreEvent) -> Int {
    event.transactions.count + (event.renewalInfo == nil ? 0 : 1)
      + (event.appTransaction == nil ? 0 : 1)
  }
}
