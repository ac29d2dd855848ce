import EntitlementDomain
import StoreSimulator
import Verification

/// Receipts with equal numbers of purchases, all by one signer, submitted one after the other as by
/// SubmitReceipt.
struct ReceiptLoad: VerifyLoad {
  struct Refused: Error {}

  let workers = 1
  /// The length of one receipt in bytes.
  let length: Int
  private let pool: VerificationPool
  private let receipts: [[UInt8]]

  private static let creationDate: Milliseconds = 1_704_067_200_000
  private static let policy = VerificationPolicy(apps: [
    .init(
      bundleID: SimulatedApp.bundleID, appAppleID: 1_234_567_890, environments: [.production])
  ])

  init(authority: ReceiptAuthority, count: Int, purchases: Int) throws {
    receipts = try (0..<count).map { index in
      try authority.sign(
        .ofLongHistory(
          itemCount: purchases, creationDate: Self.creationDate, seed: UInt64(index)))
    }
    length = receipts[0].count
    var anchors = TrustAnchors.apple
    anchors.trust(authority.rootFingerprint, for: TrustAnchor.allEnvironments)
    pool = VerificationPool(verifier: JWSVerifier(anchors: anchors), width: workers)
  }

  func run(until end: ContinuousClock.Instant) async throws -> Int {
    try await withThrowingTaskGroup(of: Int.self) { group in
      // The next receipts wait while one is verified.
      for caller in 0..<8 {
        group.addTask { try await submit(from: caller * 7, until: end) }
      }
      return try await group.reduce(0, +)
    }
  }

  private func submit(from first: Int, until end: ContinuousClock.Instant) async throws -> Int {
    var verified = 0
    repeat {
      let result = try await pool.run(
        receipts[(first + verified) % receipts.count], policy: Self.policy,
        now: Self.creationDate)
      guard case .success = result else { throw Refused() }
      verified += 1
    } while ContinuousClock.now < end
    return verified
  }
}
