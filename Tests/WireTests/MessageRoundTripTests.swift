import EntitlementDomain
import NIOCore
import Testing

@testable import Wire
import TestSupport

@Suite("Messages there and back")
struct MessageRoundTripTests {
  @Test("Every message survives encoding, full or bare", arguments: MessageSample.all)
  func roundTrip(sample: MessageSample) throws {
    #expect(try sample.decode(sample.encoded()))
  }

  @Test("A message encoded twice is the same bytes", arguments: MessageSample.all)
  func determinism(sample: MessageSample) throws {
    #expect(try sample.encoded() == sample.encoded())
  }

  @Test("Encoding appends, and decoding reads only the readable bytes")
  func appending() throws {
    var buffer = ByteBuffer(string: "before")
    try HealthCheckRequest(service: "s").encode(into: &buffer)
    #expect(buffer.readString(length: 6) == "before")
    #expect(try HealthCheckRequest.decode(from: buffer) == HealthCheckRequest(service: "s"))
  }

  @Test("Random states survive encoding")
  func randomStates() throws {
    var generator = SeededRandom(for: "random states")
    for _ in 0..<300 {
      let response = GetCustomerStateResponse.state(.random(using: &generator))
      let decoded = try GetCustomerStateResponse.decode(from: response.encoded())
      #expect(decoded == response)
    }
  }

  @Test("Threads that code at the same time do not disturb each other")
  func concurrency() async throws {
    await withTaskGroup(of: Int.self) { group in
      for _ in 0..<8 {
        group.addTask {
          var failures = 0
          for _ in 0..<50 {
            for sample in MessageSample.all
            where (try? sample.decode(sample.encoded())) != true { failures += 1 }
          }
          return failures
        }
      }
      for await failures in group { #expect(failures == 0) }
    }
  }

  @Test("A token of an app account is read in lower case")
  func tokenCase() throws {
    let request = GetCustomerStateRequest(
      customer: .appAccountToken("7C9E6679-7425-40DE-944B-E07FC1F90AE7"),
      scope: MessageSample.scope)
    let decoded = try GetCustomerStateRequest.decode(from: request.encoded())
    #expect(decoded.customer == .appAccountToken("7c9e6679-7425-40de-944b-e07fc1f90ae7"))
  }

  @Test("A text with a NUL is not sent, and the buffer stays as it was")
  func outgoingNull() {
    var buffer = ByteBuffer(string: "before")
    #expect(
      throws: MessageError(.nullInText(field: "service"), in: "grpc.health.v1.HealthCheckRequest")
    ) {
      try HealthCheckRequest(service: "a\0b").encode(into: &buffer)
    }
    #expect(buffer == ByteBuffer(string: "before"))
  }

  @Test(
    "The page size is the default for 0 and at most the limit",
    arguments: [(0, 50), (1, 1), (200, 200), (201, 200), (1 << 40, 200)])
  func pageSize(asked: Int, effective: Int) throws {
    let request = ListCustomersRequest(scope: MessageSample.scope, pageSize: asked)
    #expect(try ListCustomersRequest.decode(from: request.encoded()).effectivePageSize == effective)
  }
}

extension CustomerState {
  fileprivate static func random(using generator: inout SeededRandom) -> CustomerState {
    CustomerState(
      scope: AppScope(
        bundleID: .random(using: &generator),
        environment: StoreEnvironment.allCases.randomElement(using: &generator)!),
      accountID: maybe(using: &generator) { .random(using: &$0) },
      revision: .random(in: .min ... .max, using: &generator),
      evaluatedAt: .random(using: &generator),
      coreState: CoreState.allCases.randomElement(using: &generator)!,
      callsToAction: CallToAction.allCases.shuffled(using: &generator),
      entitlements: many(using: &generator) { generator in
        EntitlementState(
          entitlementID: .random(using: &generator),
          sources: many(using: &generator) { generator in
            EntitlementSource(
              transactionID: .random(using: &generator),
              originalTransactionID: .random(using: &generator),
              productID: .random(using: &generator), since: .random(using: &generator),
              until: maybe(using: &generator) { .random(using: &$0) })
          })
      },
      products: many(using: &generator) { generator in
        ProductState(
          productID: .random(using: &generator),
          groupID: maybe(using: &generator) { .random(using: &$0) },
          isInCatalog: .random(using: &generator), standing: .random(using: &generator))
      },
      groups: many(using: &generator) { generator in
        GroupState(
          groupID: .random(using: &generator), standing: .random(using: &generator),
          trialUsed: .random(using: &generator),
          introductoryOfferUsed: .random(using: &generator))
      },
      nextTransitionAt: maybe(using: &generator) { .random(using: &$0) })
  }
}

extension Standing {
  fileprivate static func random(using generator: inout SeededRandom) -> Standing {
    var standing = Standing(
      coreState: CoreState.allCases.randomElement(using: &generator)!,
      status: DetailedStatus.allCases.randomElement(using: &generator)!,
      productID: .random(using: &generator),
      productType: ProductType(rawValue: randomText(using: &generator)),
      transactionID: .random(using: &generator),
      originalTransactionID: .random(using: &generator),
      periodStart: .random(using: &generator), firstPurchaseAt: .random(using: &generator),
      callToAction: CallToAction.allCases.randomElement(using: &generator)!)
    standing.expirationReason = maybe(using: &generator) {
      ExpirationReason.allCases.randomElement(using: &$0)!
    }
    standing.periodEnd = maybe(using: &generator) { .random(using: &$0) }
    standing.graceEnd = maybe(using: &generator) { .random(using: &$0) }
    standing.willRenew = maybe(using: &generator) { .random(using: &$0) }
    standing.pendingChange = maybe(using: &generator) {
      PendingChange(productID: .random(using: &$0), effectiveAt: .random(using: &$0))
    }
    standing.priceConsent = maybe(using: &generator) {
      PriceConsent.allCases.randomElement(using: &$0)!
    }
    standing.offer = maybe(using: &generator) { generator in
      Offer(
        type: OfferType(rawValue: .random(in: .min ... .max, using: &generator)),
        identifier: maybe(using: &generator, randomText),
        discountType: maybe(using: &generator, randomText).map(OfferDiscountType.init(rawValue:)),
        period: maybe(using: &generator, randomText))
    }
    standing.ownership = maybe(using: &generator, randomText).map(OwnershipType.init(rawValue:))
    standing.storefront = maybe(using: &generator, randomText)
    standing.revocation = maybe(using: &generator) { generator in
      Revocation(
        date: .random(using: &generator),
        reason: maybe(using: &generator) {
          RevocationReason(rawValue: .random(in: .min ... .max, using: &$0))
        },
        type: maybe(using: &generator, randomText).map(RevocationType.init(rawValue:)))
    }
    standing.commitment = maybe(using: &generator) { generator in
      Commitment(
        billingPeriodNumber: .random(in: .min ... .max, using: &generator),
        totalBillingPeriods: .random(in: .min ... .max, using: &generator),
        expiresDate: maybe(using: &generator) { .random(using: &$0) })
    }
    standing.notices = Notice.allCases.filter { _ in .random(using: &generator) }
    return standing
  }
}

extension Milliseconds {
  fileprivate static func random(using generator: inout SeededRandom) -> Milliseconds {
    Milliseconds(.random(in: .min ... .max, using: &generator))
  }
}

extension Identifier {
  fileprivate static func random(using generator: inout SeededRandom) -> Identifier {
    Identifier(randomText(using: &generator))
  }
}

/// One to 40 characters of one to four bytes; never a NUL.
private func randomText(using generator: inout SeededRandom) -> String {
  let alphabet = Array("aZ09._- éß中文🙂\u{1}\u{7f}\u{10ffff}".unicodeScalars)
  var text = String.UnicodeScalarView()
  for _ in 0...Int.random(in: 0..<40, using: &generator) {
    text.append(alphabet.randomElement(using: &generator)!)
  }
  return String(text)
}

private func maybe<Value>(
  using generator: inout SeededRandom, _ make: (inout SeededRandom) -> Value
) -> Value? {
  Bool.random(using: &generator) ? make(&generator) : nil
}

private func many<Value>(
  using generator: inout SeededRandom, _ make: (inout SeededRandom) -> Value
) -> [Value] {
  (0..<Int.random(in: 0..<4, using: &generator)).map { _ in make(&generator) }
}
