import EntitlementDomain
import StoreSimulator
import Wire

/// Payloads of attackers who want more than was paid for, with their expected verdicts.
struct HostilePayloads {
  typealias Row = (name: String, payload: String, verdict: SubmissionVerdict)

  private let authority: SigningAuthority
  private let stranger: SigningAuthority
  private let transaction: TransactionPayload
  private let notification: StoreNotification
  private let genuine: SignedEvent

  init(_ bench: Bench) throws {
    authority = bench.authority
    stranger = try SigningAuthority.generate()
    let start = Bench.population(0).now.advanced(by: -Milliseconds.dayLength)
    let timeline = Timeline(.firstPurchase, seed: 99, start: start)
    guard let event = timeline.events.first, let transaction = event.transactions.first,
      let notification = event.notification
    else { throw HarnessFailure("a first purchase begins with a transaction and a notification") }
    self.transaction = transaction
    self.notification = notification
    genuine = try authority.sign(event)
  }

  private func signed(_ change: (inout TransactionPayload) -> Void) throws -> String {
    var changed = transaction
    change(&changed)
    return try authority.sign(payloadJSON: changed.json)
  }

  private func signed(_ json: String) throws -> String {
    try authority.sign(payloadJSON: Array(json.utf8))
  }

  var rows: [Row] {
    get throws {
      let jws = try CompactJWS(try authority.sign(payloadJSON: transaction.json))
      let other = try CompactJWS(try stranger.sign(payloadJSON: transaction.json))
      var withOurHeader = other
      withOurHeader.header = jws.header
      var withTheirHeader = jws
      withTheirHeader.header = other.header
      var unsigned = jws
      unsigned.header = "eyJhbGciOiJub25lIn0"  // {"alg":"none"}
      var foreign = jws
      foreign.signature = (jws.signature.first == "A" ? "B" : "A") + jws.signature.dropFirst()
      let text = String(decoding: transaction.json, as: UTF8.self)
      return [
        (
          "another product under the old signature",
          try jws.forged(replacing: transaction.productID.rawValue, with: "other"),
          .invalidSignature
        ),
        ("signed by a stranger", other.text, .untrustedChain),
        ("signed by a stranger under Apple's certificates", withOurHeader.text, .invalidSignature),
        ("a stranger's certificates over a genuine payload", withTheirHeader.text, .untrustedChain),
        ("a signature with another first character", foreign.text, .invalidSignature),
        ("not signed", unsigned.text, .unsupportedAlgorithm),
        ("another app", try signed { $0.bundleID = "com.example.other" }, .wrongApp),
        (
          "an environment that is not accepted", try signed { $0.environment = .xcode },
          .wrongEnvironment
        ),
        ("no environment", try signed { $0.environment = nil }, .wrongEnvironment),
        (
          "signed when the certificates have expired",
          try signed { $0.signedDate = Milliseconds(4_133_980_800_000) }, .certificateExpired
        ),
        ("not JSON", try signed("It was a dark and stormy night."), .malformed),
        ("an empty payload", try signed(""), .malformed),
        ("not an object", try signed("[\(text)]"), .malformed),
        ("an object cut short", try signed(String(text.dropLast())), .malformed),
        (
          "nested without end",
          try signed(String(repeating: "[", count: 100_000)), .malformed
        ),
        (
          "a number beyond all bounds",
          try signed(text.replacing("\"quantity\":1", with: "\"signedDate\":1e999")), .malformed
        ),
        (
          "without a transaction id",
          try signed(text.replacing("\"transactionId\"", with: "\"transaktionId\"")), .malformed
        ),
        (
          "not UTF-8", try authority.sign(payloadJSON: transaction.json + [0xC3, 0x28]), .malformed
        ),
        ("not a JWS", "It was a dark and stormy night.", .malformed),
        ("two parts", "\(jws.header).\(jws.payload)", .malformed),
        ("four parts", "\(jws.text).\(jws.signature)", .malformed),
        ("not base64url", "\(jws.header).\(jws.payload)=.\(jws.signature)", .malformed),
        ("dots", "..", .malformed),
      ]
    }
  }

  private func notification(
    _ change: (inout StoreNotification) -> Void = { _ in }, transaction: String? = nil
  ) throws -> String {
    var changed = notification
    change(&changed)
    return try authority.sign(
      payloadJSON: changed.json(
        signedTransaction: transaction ?? genuine.transactions.first,
        signedRenewalInfo: genuine.renewalInfo))
  }

  var notificationRows: [Row] {
    get throws {
      let inner = try CompactJWS(try authority.sign(payloadJSON: transaction.json))
      let strangers = try stranger.sign(payloadJSON: transaction.json)
      return [
        (
          "a forged transaction inside",
          try notification(
            transaction: inner.forged(replacing: transaction.productID.rawValue, with: "other")),
          .invalidSignature
        ),
        (
          "a stranger's transaction inside", try notification(transaction: strangers),
          .untrustedChain
        ),
        ("no JWS inside", try notification(transaction: "nonsense"), .malformed),
        (
          "another app's transaction inside",
          try notification(transaction: signed { $0.bundleID = "com.example.other" }), .wrongApp
        ),
        ("another app", try notification({ $0.bundleID = "com.example.other" }), .wrongApp),
        ("another Apple id", try notification({ $0.appAppleID = 1 }), .wrongApp),
        (
          "an environment that is not accepted", try notification({ $0.environment = .xcode }),
          .wrongEnvironment
        ),
        ("a transaction in its place", inner.text, .malformed),
        (
          "signed by a stranger",
          try stranger.sign(
            payloadJSON: notification.json(signedTransaction: nil, signedRenewalInfo: nil)),
          .untrustedChain
        ),
      ]
    }
  }
}
