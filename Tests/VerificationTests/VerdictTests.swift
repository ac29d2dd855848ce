import Cryptography
import EntitlementDomain
import StoreSimulator
import TestSupport
import Testing
import Verification

@Suite("One verdict per cause")
struct VerdictTests {
  let workshop = Workshop.shared
  let verifier = Workshop.shared.verifier

  @Test(arguments: [Payload.transaction(), .renewalInfo(), .appTransaction()])
  func `what the authority signed is accepted`(payload: Payload) throws {
    #expect(verdict(verifier, try workshop.sign(payload)) == .ok)
  }

  @Test(arguments: [
    "", ".", "..", "...", "a.b", "a.b.c.d", "e30.e30", "e30..AA", ".e30.AA", "e30.e30.",
    "e30=.e30.AA", "e30.e30=.AA", "e30.e30.AA==", "e30.e31.AA", "e30.e30.A", "e30.e3+.AA",
    "e30.e30.AA\n", " e30.e30.AA", "e30.e 0.AA", "e30.e30.AB",
  ])
  func `anything but three parts of canonical base64url is malformed`(text: String) {
    #expect(verdict(verifier, Array(text.utf8)) == .malformed)
  }

  @Test(arguments: [
    "null", "[]", "1", #""text""#, "{", "", "{}", #"{"a":1}"#, "{} {}", "{}\u{0}",
    #"{"transactionId":"1","transactionId":"1"}"#,
    #"{"transactionId":"1","transaction\u0049d":"1"}"#,
    #"{"transactionId":"1","signedDate":1.0}"#,
    #"{"transactionId":"1","signedDate":1e3}"#, #"{"transactionId":"1","signedDate":"1"}"#,
    #"{"transactionId":"1","signedDate":9223372036854775808}"#,
    #"{"transactionId":"1","bundleId":1}"#, #"{"transactionId":"1","bundleId":"\ud800"}"#,
  ])
  func `a payload that is not one JSON object with Apple's types is malformed`(
    json: String
  ) throws {
    #expect(verdict(verifier, try workshop.sign(Array(json.utf8))) == .malformed)
  }

  @Test(arguments: ["[]", "null", #"{"alg":"ES256","alg":"ES256"}"#, "{", "\u{FF}"])
  func `a header that is not a JSON object without duplicates is malformed`(json: String) throws {
    let segment = Base64Form.urlWithoutPadding.encode(Array(json.utf8))
    let valid = try workshop.sign(.transaction()).split(separator: UInt8(ascii: "."))
    let jws = segment + [UInt8(ascii: ".")] + valid[1] + [UInt8(ascii: ".")] + valid[2]
    #expect(verdict(verifier, Array(jws)) == .malformed)
  }

  @Test(arguments: [
    "transactionId", "originalTransactionId", "productId", "purchaseDate", "signedDate",
  ])
  func `a transaction without what makes it a fact is malformed`(field: String) throws {
    for json in [nil, "null", #""""#, "1.5", "[]", "{}", "true"] {
      let payload = Payload.transaction().with(field, json)
      #expect(verdict(verifier, try workshop.sign(payload)) == .malformed)
    }
  }

  @Test func `another kind than was asked for is malformed`() throws {
    let payloads: [(SignedKind, Payload)] = [
      (.transaction, .transaction()), (.renewalInfo, .renewalInfo()),
      (.appTransaction, .appTransaction()),
      (.notification, .notification(data: .notificationData())),
    ]
    for (kind, payload) in payloads {
      let jws = try workshop.sign(payload)
      for asked in SignedKind.allCases {
        #expect(verdict(verifier, jws, as: asked) == (asked == kind ? .ok : .malformed))
      }
    }
  }

  @Test(arguments: [
    ("expirationIntent", "1"), ("gracePeriodExpiresDate", "1704067200000"),
    ("isInBillingRetryPeriod", "false"), ("priceIncreaseStatus", "0"),
    ("renewalDate", "1704067200000"), ("renewalPrice", "4990"),
    ("renewalBillingPlanType", #""MONTHLY""#), ("recentSubscriptionStartDate", "1704067200000"),
    ("eligibleWinBackOfferIds", "[]"),
  ])
  func `a renewal info is known by any field that only it has`(
    field: String, json: String
  ) throws {
    let bare = Payload.renewalInfo().with("autoRenewStatus", nil).with("autoRenewProductId", nil)
    let jws = try workshop.sign(bare.with(field, json))
    for asked in [nil, .renewalInfo] as [SignedKind?] {
      #expect(verdict(verifier, jws, as: asked) == .ok)
    }
    #expect(verdict(verifier, jws, as: .transaction) == .malformed)
    let transaction = try workshop.sign(Payload.transaction().with(field, json))
    #expect(verdict(verifier, transaction) == .ok)
    #expect(verdict(verifier, try workshop.sign(Payload(members: [field: json]))) == .malformed)
  }

  @Test func `a renewal info without any such field is one where it is expected`() throws {
    let bare = Payload.renewalInfo().with("autoRenewStatus", nil).with("autoRenewProductId", nil)
    let jws = try workshop.sign(bare)
    #expect(verdict(verifier, jws, as: .renewalInfo) == .ok)
    for asked in [nil, .transaction, .appTransaction, .notification] as [SignedKind?] {
      #expect(verdict(verifier, jws, as: asked) == .malformed)
    }
    // No chain, no renewal info.
    let empty = try workshop.sign(Payload(members: ["environment": #""Sandbox""#]))
    #expect(verdict(verifier, empty, as: .renewalInfo) == .malformed)
    #expect(verdict(verifier, try workshop.sign(.transaction()), as: .renewalInfo) == .malformed)
  }

  @Test func `more bytes than the limit are refused unread`() throws {
    let jws = [UInt8](repeating: UInt8(ascii: "A"), count: VerificationLimits.signedLength + 1)
    #expect(verdict(verifier, jws) == .malformed)
  }

  @Test func `members of the header that are not known are passed over`() throws {
    var header = Header(x5c: workshop.chain)
    header.more = #","kid":"1","typ":"JWT","nested":{"a":[1,2]}"#
    #expect(verdict(verifier, try workshop.sign(header: header)) == .ok)
  }

  @Test func `a payload re-signed by another key has an invalid signature`() throws {
    let key = Workshop.twin.authority.leaf.key
    let jws = try workshop.sign(header: Header(x5c: workshop.chain), key: key)
    #expect(verdict(verifier, jws) == .invalidSignature)
  }

  @Test func `a payload under the signature of another one has an invalid signature`() throws {
    let first = try workshop.sign(.transaction()).split(separator: UInt8(ascii: "."))
    let second = try workshop.sign(.renewalInfo()).split(separator: UInt8(ascii: "."))
    let jws = Array([first[0], second[1], first[2]].joined(separator: [UInt8(ascii: ".")]))
    #expect(verdict(verifier, jws) == .invalidSignature)
  }

  @Test(arguments: [0, 1, 32, 63, 65, 72, 128])
  func `a signature of another length is invalid`(length: Int) throws {
    let parts = try workshop.sign(.transaction()).split(separator: UInt8(ascii: "."))
    let signature = Base64Form.urlWithoutPadding.encode([UInt8](repeating: 1, count: length))
    let jws = Array(
      [Array(parts[0]), Array(parts[1]), signature].joined(separator: [UInt8(ascii: ".")]))
    #expect(verdict(verifier, jws) == (length == 0 ? .malformed : .invalidSignature))
  }

  @Test(arguments: [0x00, 0x01, 0x7F, 0x80, 0xFF] as [UInt8])
  func `r and s outside their range are invalid, not a fault`(byte: UInt8) throws {
    let parts = try workshop.sign(.transaction()).split(separator: UInt8(ascii: "."))
    let signature = Base64Form.urlWithoutPadding.encode([UInt8](repeating: byte, count: 64))
    let jws = Array(
      [Array(parts[0]), Array(parts[1]), signature].joined(separator: [UInt8(ascii: ".")]))
    #expect(verdict(verifier, jws) == .invalidSignature)
  }

  @Test func `every verdict has a name of its own and the number of the wire`() {
    #expect(Set(Verdict.allCases.map(\.name)).count == 13)
    #expect(Verdict.allCases.map(\.rawValue) == Array(1...13))
    #expect(Verdict.untrustedChain.name == "UNTRUSTED_CHAIN")
  }

  @Test func `a refusal says nothing of the payload's values`() throws {
    let secrets = ["com.example.scribe", "2000000123456789", "1704067200000"]
    let policy = VerificationPolicy(apps: [])
    for payload in [Payload.transaction(), .appTransaction()] {
      let refusal = #expect(throws: Refusal.self) {
        try verifier.verify(
          try workshop.sign(payload), policy: policy, now: Workshop.signedDate)
      }
      for secret in secrets { #expect(refusal?.detail.contains(secret) == false) }
    }
  }
}
