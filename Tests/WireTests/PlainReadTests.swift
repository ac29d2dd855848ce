import EntitlementDomain
import NIOCore
import TestSupport
import Testing

@testable import Wire

@Suite("Requests that are read in place")
struct PlainReadTests {
  /// The meaning of a request, as both readers give it.
  private struct Question: Equatable {
    var customer: CustomerSelector
    var scope: AppScope
    var entitlementID: EntitlementID?
    var ifRevisionDiffers: Int64?

    init(_ read: PlainRead) {
      let id = String(decoding: read.id, as: UTF8.self)
      customer =
        switch read.selector {
        case .account: .account(AccountID(id))
        case .originalTransaction: .originalTransaction(OriginalTransactionID(id))
        }
      scope = AppScope(
        bundleID: BundleID(String(decoding: read.bundleID, as: UTF8.self)),
        environment: read.environment)
      entitlementID = read.entitlementID.map { EntitlementID(String(decoding: $0, as: UTF8.self)) }
      ifRevisionDiffers = read.ifRevisionDiffers
    }

    /// Nil for a request that is not plain.
    init?(_ request: GetCustomerStateRequest) {
      guard request.consistency == .minimizeLatency, request.at == nil else { return nil }
      (customer, scope) = (request.customer, request.scope)
      ifRevisionDiffers = request.ifRevisionDiffers
    }

    init?(_ request: CheckEntitlementRequest) {
      guard request.consistency == .minimizeLatency, request.at == nil else { return nil }
      (customer, scope) = (request.customer, request.scope)
      entitlementID = request.entitlementID
    }
  }

  private func state(_ bytes: ByteBuffer) -> Question? {
    bytes.withUnsafeReadableBytes { PlainRead(getCustomerState: $0).map(Question.init) }
  }

  private func check(_ bytes: ByteBuffer) -> Question? {
    bytes.withUnsafeReadableBytes { PlainRead(checkEntitlement: $0).map(Question.init) }
  }

  @Test(
    "The usual requests are plain, in each environment",
    arguments: StoreEnvironment.allCases, [nil, 0, 1, 1 << 40, .max] as [Int64?])
  func plain(environment: StoreEnvironment, revision: Int64?) throws {
    let scope = AppScope(bundleID: "com.example.scribe", environment: environment)
    for customer in [
      CustomerSelector.account("customer-1"),
      .account(AccountID(String(repeating: "x", count: 125))),
      .originalTransaction("2000000123456789"),
    ] {
      let request = GetCustomerStateRequest(
        customer: customer, scope: scope, ifRevisionDiffers: revision)
      #expect(state(try request.encoded()) == Question(request))
      let checked = CheckEntitlementRequest(
        customer: customer, scope: scope, entitlementID: "pro")
      #expect(check(try checked.encoded()) == Question(checked))
    }
  }

  @Test("MINIMIZE_LATENCY and production may be set or absent")
  func defaults() throws {
    let customer: [UInt8] = [0x0A, 3, 0x0A, 1, 0x61, 0x12, 1, 0x62]
    for environment in [[], [0x18, 0], [0x18, 1]] as [[UInt8]] {
      for consistency in [[], [0x22, 0], [0x22, 2, 0x08, 0], [0x22, 2, 0x08, 1]] as [[UInt8]] {
        let bytes = ByteBuffer(bytes: customer + environment + consistency)
        let request = try GetCustomerStateRequest.decode(from: bytes)
        let isPlain = consistency != [0x22, 2, 0x08, 0]
        #expect(state(bytes) == (isPlain ? Question(request) : nil))
      }
    }
  }

  @Test("A plain request reads the same as with the decoder, for random bytes")
  func random() throws {
    var generator = SeededRandom(for: "plain reads")
    var plain = 0
    for round in 0..<60_000 {
      let isCheck = Bool.random(using: &generator)
      var bytes = Array(
        try isCheck
          ? randomCheck(using: &generator).encoded().readableBytesView
          : randomState(using: &generator).encoded().readableBytesView)
      for _ in 0..<Int.random(in: 0..<3, using: &generator) { damage(&bytes, using: &generator) }
      let buffer = ByteBuffer(bytes: bytes)
      if isCheck {
        guard let read = check(buffer) else { continue }
        plain += 1
        let decoded = try? CheckEntitlementRequest.decode(from: buffer)
        #expect(read == decoded.flatMap(Question.init), "seed \(generator.seed), round \(round)")
      } else {
        guard let read = state(buffer) else { continue }
        plain += 1
        let decoded = try? GetCustomerStateRequest.decode(from: buffer)
        #expect(read == decoded.flatMap(Question.init), "seed \(generator.seed), round \(round)")
      }
    }
    #expect(plain > 1_000)
  }

  private func randomState(using generator: inout SeededRandom) -> GetCustomerStateRequest {
    GetCustomerStateRequest(
      customer: randomCustomer(using: &generator), scope: randomScope(using: &generator),
      consistency: randomConsistency(using: &generator),
      at: Int.random(in: 0..<9, using: &generator) == 0 ? 5 : nil,
      ifRevisionDiffers: maybe(using: &generator) { .random(in: .min ... .max, using: &$0) })
  }

  private func randomCheck(using generator: inout SeededRandom) -> CheckEntitlementRequest {
    CheckEntitlementRequest(
      customer: randomCustomer(using: &generator), scope: randomScope(using: &generator),
      entitlementID: "pro", consistency: randomConsistency(using: &generator),
      at: Int.random(in: 0..<9, using: &generator) == 0 ? 5 : nil)
  }

  private func randomConsistency(using generator: inout SeededRandom) -> ReadConsistency {
    switch Int.random(in: 0..<9, using: &generator) {
    case 0: .atLeastAsFresh(revision: 7)
    case 1: .fullyConsistent
    default: .minimizeLatency
    }
  }

  private func randomScope(using generator: inout SeededRandom) -> AppScope {
    Int.random(in: 0..<9, using: &generator) == 0
      ? .random(using: &generator)
      : AppScope(
        bundleID: "com.example.scribe",
        environment: StoreEnvironment.allCases.randomElement(using: &generator)!)
  }

  private func randomCustomer(using generator: inout SeededRandom) -> CustomerSelector {
    let id = String(repeating: "7", count: Int.random(in: 1...200, using: &generator))
    return switch Int.random(in: 0..<9, using: &generator) {
    case 0: .transaction(TransactionID(id))
    case 1: .account(.random(using: &generator))
    case 2, 3: .originalTransaction(OriginalTransactionID(id))
    default: .account(AccountID(id))
    }
  }

  private func damage(_ bytes: inout [UInt8], using generator: inout SeededRandom) {
    guard let place = bytes.indices.randomElement(using: &generator) else { return }
    switch Int.random(in: 0..<4, using: &generator) {
    case 0: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
    case 1: bytes.remove(at: place)
    case 2: bytes.insert(.random(in: .min ... .max, using: &generator), at: place)
    default: bytes.removeSubrange(place...)
    }
  }
}
