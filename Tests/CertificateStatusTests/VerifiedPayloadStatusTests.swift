import EntitlementDomain
import StoreSimulator
import TestSupport
import Testing
import Verification

@Suite(
  "Payloads whose certificates were revoked",
  .enabled(if: OpenSSL.isInstalled, "the program openssl is not installed"),
  .timeLimit(.minutes(5)))
struct VerifiedPayloadStatusTests {
  let bench: StatusBench
  let now = Milliseconds.systemNow
  private let policy = VerificationPolicy(apps: [
    .init(bundleID: "com.example.scribe", environments: [.sandbox])
  ])

  init() throws {
    bench = try StatusBench()
  }

  private func transaction(_ identifier: Int, signedDate: Int64) -> String {
    """
    {"bundleId":"com.example.scribe","environment":"Sandbox",\
    "originalTransactionId":"\(identifier)","transactionId":"\(identifier)",\
    "productId":"com.example.scribe.pro","type":"Non-Consumable",\
    "purchaseDate":1704000000000,"signedDate":\(signedDate)}
    """
  }

  /// A leaf's signer. Each call makes another certificate, whatever its number.
  private func signer(
    _ serial: UInt64, validity: ClosedRange<Int64> = StatusAuthority.validity
  ) throws -> SigningAuthority {
    let leaf = try bench.authority.leaf(
      serial: serial, address: StatusBench.leafAddress, validity: validity)
    return try bench.authority.signer(leaf: leaf)
  }

  private func sign(
    _ json: String, serial: UInt64, validity: ClosedRange<Int64> = StatusAuthority.validity
  ) throws -> String {
    try signer(serial, validity: validity).sign(payloadJSON: Array(json.utf8))
  }

  private func pool(
    _ checker: StatusChecker?, validatesNow: Bool = true
  ) throws -> VerificationPool {
    VerificationPool(
      verifier: JWSVerifier(anchors: try bench.authority.anchors, validatesNow: validatesNow),
      status: checker, width: 2)
  }

  private func verdicts(
    _ pool: VerificationPool, _ batch: [String]
  ) async throws -> [Verdict] {
    try await pool.run(
      batch.map { VerificationPool.Item(jws: Array($0.utf8)) }, policy: policy, now: now
    ).map { result in
      switch result {
      case .success: .ok
      case .failure(let refusal): refusal.verdict
      }
    }
  }

  @Test func `a batch asks once for each signer, and counts the final verdicts`() async throws {
    let program = try bench.program()
    let responder = bench.responder { try program.answer(to: $0) }
    let checker = StatusChecker(policy: .strict, responder: responder)
    let pool = try pool(checker)
    let date = now.rawValue
    // 13 is not known to its issuer.
    let signers = try [11, 12, 13].map { try signer($0) }
    var batch = try (0..<60).map { index in
      try signers[index % 3]
        .sign(payloadJSON: Array(transaction(index + 1, signedDate: date).utf8))
    }
    batch.append("not a JWS")
    let expected: [Verdict] = [.ok, .certificateRevoked, .retryable]
    #expect(
      try await verdicts(pool, batch) == (0..<60).map { expected[$0 % 3] } + [.malformed])
    #expect(responder.count == 3)
    #expect(checker.statistics.asked == 4)
    #expect(
      pool.statistics.verdicts == [
        .ok: 20, .certificateRevoked: 20, .retryable: 20, .malformed: 1,
      ])
    // Again from the cache.
    #expect(
      try await verdicts(pool, batch) == (0..<60).map { expected[$0 % 3] } + [.malformed])
    #expect(responder.count == 3)
    await pool.shutdown()
  }

  @Test func `a payload inside a notification is asked for too`() async throws {
    let program = try bench.program()
    let responder = bench.responder { try program.answer(to: $0) }
    let checker = StatusChecker(policy: .soft, responder: responder)
    let pool = try pool(checker)
    let date = now.rawValue
    func notification(outer: UInt64, inner: UInt64) throws -> String {
      let transaction = try sign(transaction(7, signedDate: date), serial: inner)
      return try sign(
        """
        {"notificationType":"DID_RENEW","version":"2.0","signedDate":\(date),\
        "notificationUUID":"b1f0c6d2-4a37-4e59-8c1b-6d2f9e8a7054",\
        "data":{"bundleId":"com.example.scribe","environment":"Sandbox",\
        "signedTransactionInfo":"\(transaction)"}}
        """, serial: outer)
    }
    #expect(
      try await verdicts(
        pool,
        [
          notification(outer: 11, inner: 11), notification(outer: 11, inner: 12),
          notification(outer: 12, inner: 11),
        ]) == [.ok, .certificateRevoked, .certificateRevoked])
    await pool.shutdown()
  }

  @Test func `with status on, certificates must be valid now`() async throws {
    let responder = bench.responder { _ in [] }
    let checker = StatusChecker(policy: .soft, responder: responder)
    let old = try sign(
      transaction(1, signedDate: 1_550_000_000_000), serial: 11,
      validity: 1_500_000_000...1_600_000_000)
    let (asking, offline) = (try pool(checker), try pool(nil, validatesNow: false))
    #expect(try await verdicts(asking, [old]) == [.certificateExpired])
    #expect(try await verdicts(offline, [old]) == [.ok])
    #expect(responder.count == 0)
    await asking.shutdown()
    await offline.shutdown()
  }

  @Test func `no request is sent for payloads that are not authentic`() async throws {
    let responder = bench.responder { _ in [] }
    let checker = StatusChecker(policy: .strict, responder: responder)
    let pool = try pool(checker)
    let twin = try StatusAuthority(intermediateAddress: StatusBench.rootAddress)
    let leaf = try twin.leaf(serial: 11, address: StatusBench.leafAddress)
    let forged = try twin.signer(leaf: leaf)
      .sign(payloadJSON: Array(transaction(1, signedDate: now.rawValue).utf8))
    var broken = try sign(transaction(1, signedDate: now.rawValue), serial: 11)
    broken.removeLast(8)
    broken += "AAAAAAAA"
    let elsewhere = try sign(
      transaction(1, signedDate: now.rawValue).replacing("scribe\",", with: "other\","), serial: 11)
    #expect(
      try await verdicts(pool, [forged, broken, elsewhere]) == [
        .untrustedChain, .invalidSignature, .wrongApp,
      ])
    #expect(responder.count == 0)
    #expect(checker.statistics.asked == 0 && checker.statistics.undecided == 0)
    await pool.shutdown()
  }
}
