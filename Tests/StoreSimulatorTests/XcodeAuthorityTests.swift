import Cryptography
import EntitlementDomain
import Foundation
import JSON
import StoreSimulator
import TestSupport
import Testing
import Verification

@Suite("The simulator signs as Xcode does")
struct XcodeAuthorityTests {
  private static let authority = Result { try XcodeAuthority.generate() }
  private static let policy = VerificationPolicy(apps: [
    VerificationPolicy.App(
      bundleID: SimulatedApp.bundleID, appAppleID: SimulatedApp.appAppleID,
      environments: [.xcode, .localTesting])
  ])

  private static func anchors() throws -> TrustAnchors {
    var anchors = TrustAnchors.apple
    anchors.trust(try authority.get().fingerprint, for: [.xcode, .localTesting])
    anchors.trust(try authority.get().receiptFingerprint, for: [.xcode, .localTesting])
    return anchors
  }

  @Test("Its certificates have the shape of Xcode's: self-signed, without marker extensions")
  func shape() throws {
    let authority = try Self.authority.get()
    let signing = try Certificate(der: authority.signing.certificate)
    #expect(signing.subject == signing.issuer)
    #expect(signing.isAuthority && signing.pathLengthLimit == 0)
    #expect(signing.maySignData && !signing.mayIssueCertificates && !signing.maySignCode)
    let receipts = try Certificate(der: authority.receipts.certificate)
    #expect(receipts.subject == receipts.issuer)
    #expect(receipts.isAuthority && receipts.pathLengthLimit == nil)
    #expect(receipts.maySignData && receipts.mayIssueCertificates && receipts.maySignCode)
    #expect(receipts.hasUnknownCriticalExtension(except: []))
    #expect(!receipts.hasUnknownCriticalExtension(except: ["2.5.29.37"]))
    for certificate in [signing, receipts] {
      #expect(!certificate.hasExtension(SigningAuthority.leafMark))
      #expect(certificate.validity.contains(SimulatedCalendar.range.lowerBound.rawValue))
      #expect(certificate.validity.contains(SimulatedCalendar.range.upperBound.rawValue))
    }
    #expect(authority.fingerprint == signing.fingerprint)
    #expect(authority.receiptFingerprint == receipts.fingerprint)
  }

  @Test(
    "Every payload of every life cycle has fractional dates, and verifies",
    arguments: LifeCycle.allCases, [StoreEnvironment.xcode, .localTesting])
  func everything(lifeCycle: LifeCycle, environment: StoreEnvironment) throws {
    let authority = try Self.authority.get()
    let verifier = JWSVerifier(anchors: try Self.anchors())
    let timeline = Timeline(
      lifeCycle, seed: 11, start: TimelineTests.starts[0], environment: environment)
    for (event, signed) in zip(timeline.events, try authority.sign(timeline.events)) {
      for (transaction, jws) in zip(event.transactions, signed.transactions) {
        let verified = try verifier.verify(Array(jws.utf8), policy: Self.policy, now: event.at)
        guard case .transaction(let fact) = verified.content else {
          Issue.record("not a transaction")
          continue
        }
        #expect(fact.purchaseDate == transaction.purchaseDate)
        #expect(fact.originalPurchaseDate == transaction.originalPurchaseDate)
        #expect(fact.expiresDate == transaction.expiresDate)
        #expect(fact.signedDate == transaction.signedDate)
        #expect(fact.revocationDate == transaction.revocationDate)
        #expect(fact.commitment?.expiresDate == transaction.commitment?.expiresDate)
        try expectFractions(in: verified, ["purchaseDate", "signedDate"])
      }
      if let info = event.renewalInfo, let jws = signed.renewalInfo {
        let verified = try verifier.verify(Array(jws.utf8), policy: Self.policy, now: event.at)
        guard case .renewalInfo(let unbound) = verified.content else { continue }
        let fact = unbound.bound(to: SimulatedApp.bundleID)
        #expect(fact.signedDate == info.signedDate)
        #expect(fact.renewalDate == info.renewalDate)
        #expect(fact.gracePeriodExpiresDate == info.gracePeriodExpiresDate)
        #expect(fact.recentSubscriptionStartDate == info.recentSubscriptionStartDate)
        try expectFractions(in: verified, ["signedDate"])
      }
      if let app = event.appTransaction, let jws = signed.appTransaction {
        let verified = try verifier.verify(Array(jws.utf8), policy: Self.policy, now: event.at)
        guard case .appTransaction(let fact) = verified.content else { continue }
        #expect(fact.signedDate == app.signedDate)
        #expect(fact.originalPurchaseDate == app.originalPurchaseDate)
        try expectFractions(in: verified, ["receiptCreationDate"])
      }
      // A token for external purchases names no environment but Production and Sandbox.
      if case .externalPurchaseToken? = event.notification?.subject { continue }
      if let jws = signed.notification {
        _ = try verifier.verify(
          Array(jws.utf8), as: .notification, policy: Self.policy, now: event.at)
      }
    }
  }

  private func expectFractions(
    in payload: VerifiedPayload, _ names: [StaticString]
  ) throws {
    let document = try JSONDocument(payload.signed.payload)
    for name in names {
      let index = try #require(document.value(of: name, inObjectAt: 0))
      let node = document.nodes[index]
      let text = String(
        decoding: document.bytes[Int(node.start)..<Int(node.end)], as: UTF8.self)
      let parts = text.split(separator: ".")
      #expect(parts.count == 2 && (1...4).contains(parts.last?.count ?? 0), "\(name) \(text)")
    }
  }

  @Test("A date before 1970 is whole, as the year 1 that stands for no date")
  func yearOne() throws {
    var app = AppTransactionPayload(
      bundleID: SimulatedApp.bundleID, appAppleID: nil, signedDate: 1_700_000_000_000,
      environment: .xcode)
    app.originalPurchaseDate = -62_135_769_600_000
    #expect(String(decoding: app.json, as: UTF8.self).contains(":-62135769600000"))
    let jws = try Self.authority.get().sign(payloadJSON: app.json)
    let verified = try JWSVerifier(anchors: try Self.anchors()).verify(
      Array(jws.utf8), policy: Self.policy, now: 0)
    guard case .appTransaction(let fact) = verified.content else { return }
    #expect(fact.originalPurchaseDate == -62_135_769_600_000)
    #expect(fact.signedDate == 1_700_000_000_000)
  }

  @Test("The App Store's environments keep whole dates")
  func appStore() {
    for environment in [StoreEnvironment.production, .sandbox] {
      for event in Timeline(
        .grace, seed: 1, start: TimelineTests.starts[0], environment: environment
      ).events {
        for json in event.transactions.map(\.json) + [event.renewalInfo?.json].compactMap({ $0 }) {
          #expect(
            !json.split(separator: UInt8(ascii: "\"")).contains {
              $0.first == UInt8(ascii: ":") && $0.contains(UInt8(ascii: "."))
            })
        }
      }
    }
  }

  @Test(
    "Every life cycle's receipt has indefinite lengths, and verifies", arguments: LifeCycle.allCases
  )
  func receipts(lifeCycle: LifeCycle) throws {
    let authority = try Self.authority.get()
    let verifier = ReceiptVerifier(anchors: try Self.anchors())
    for day in [0, lifeCycle.characteristicDay + 40] {
      let receipt = TimelineReceiptTests.receipt(lifeCycle, day: day, environment: .xcode)
      let signed = try authority.sign(receipt)
      #expect(signed.starts(with: [0x30, 0x80]))
      #expect(try authority.sign(receipt) == signed)
      let verified = try verifier.verify(signed, policy: Self.policy)
      #expect(verified.receipt.environment == .xcode)
      #expect(verified.receipt.creationDate == receipt.creationDate)
      #expect(
        Set(verified.receipt.items.map(\.transactionID)) == Set(receipt.items.map(\.transactionID)))
      #expect(verified.facts.count == 1 + receipt.items.count)
      let trusting = ReceiptVerifier()
      #expect(throws: Refusal.self) { try trusting.verify(signed, policy: Self.policy) }
    }
  }

  @Test("OpenSSL reads the receipts", .enabled(if: OpenSSL.path != nil))
  func openSSL() throws {
    let directory = try TemporaryDirectory()
    let path = "\(directory.path)/receipt.ber"
    let signed = try Self.authority.get().sign(SignedReceiptTests.receipt(itemCount: 187))
    try Data(signed).write(to: URL(filePath: path))
    let result = try OpenSSLProgram.run([
      "cms", "-verify", "-inform", "DER", "-in", path, "-noverify", "-binary", "-out", "/dev/null",
    ])
    #expect(result.code == 0, "\(result.errors)")
  }

  @Test("It is saved next to the other authorities, in files that only the owner can read")
  func reload() throws {
    let directory = try TemporaryDirectory()
    let signing = try SigningAuthority.loadOrCreate(inDirectory: directory.path)
    let made = try XcodeAuthority.loadOrCreate(inDirectory: directory.path)
    let loaded = try XcodeAuthority.loadOrCreate(inDirectory: directory.path)
    #expect(loaded.fingerprint == made.fingerprint)
    #expect(loaded.receiptFingerprint == made.receiptFingerprint)
    #expect(
      try SigningAuthority.load(fromDirectory: directory.path).rootFingerprint
        == signing.rootFingerprint)
    let files = try directory.files(in: "").filter { $0.hasPrefix("xcode") }
    #expect(
      Set(files) == [
        "xcode.key.pem", "xcode.pem", "xcode-receipt.key.pem", "xcode-receipt.pem",
      ])
    for file in files { #expect(try directory.permissions(of: file) == 0o600, "\(file)") }
  }

  @Test(
    "An incomplete authority is refused and not changed, and the error gives advice",
    arguments: ["xcode.key.pem", "xcode.pem", "xcode-receipt.key.pem", "xcode-receipt.pem"])
  func incomplete(file: String) throws {
    let directory = try TemporaryDirectory()
    _ = try XcodeAuthority.loadOrCreate(inDirectory: directory.path)
    try directory.removeFile(file)
    let error = #expect(throws: SimulatorError.self) {
      try XcodeAuthority.loadOrCreate(inDirectory: directory.path)
    }
    #expect(error?.code == .damagedAuthority)
    #expect(error?.message.contains(file) == true)
    #expect(error?.message.contains("xcode*.pem") == true)
    #expect(try directory.files(in: "").count == 3)
  }
}
