import EntitlementDomain
import NIOCore
import Testing

import TestSupport

@testable import Wire

@Suite("Round trips of messages")
struct MessageRoundTripTests {
  @Test("Every message survives encoding, full or empty", arguments: MessageSample.all)
  func roundTrip(sample: MessageSample) throws {
    #expect(try sample.decode(sample.encoded()))
  }

  @Test("Encoding a message twice gives the same bytes", arguments: MessageSample.all)
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

  @Test("Random explanations survive encoding")
  func randomExplanations() throws {
    var generator = SeededRandom(for: "random explanations")
    for _ in 0..<100 {
      let response = ExplainCustomerStateResponse(explanation: .random(using: &generator))
      let decoded = try ExplainCustomerStateResponse.decode(from: response.encoded())
      #expect(decoded == response)
    }
  }

  @Test("Random grants, changes, catalogs and counters survive encoding")
  func randomAdministration() throws {
    var generator = SeededRandom(for: "random administration")
    func expectSame<Message: WireMessage & Equatable>(_ message: Message) throws {
      #expect(try Message.decode(from: message.encoded()) == message)
    }
    for _ in 0..<200 {
      try expectSame(AddGrantRequest.random(using: &generator))
      try expectSame(ListGrantsResponse(grants: many(using: &generator, Grant.random)))
      try expectSame(ListChangesResponse(changes: many(using: &generator, ChangeEntry.random)))
      try expectSame(CatalogResponse.random(using: &generator))
      try expectSame(
        GetStatisticsResponse(
          counters: many(using: &generator) { generator in
            StatisticsCounter(
              name: randomText(using: &generator),
              value: .random(in: .min ... .max, using: &generator))
          }, version: maybe(using: &generator, randomText)))
      try expectSame(
        GetServerResponse(
          version: randomText(using: &generator), nodeName: randomText(using: &generator),
          storeKind: maybe(using: &generator) { StoreKind.allCases.randomElement(using: &$0)! },
          catalogDigest: maybe(using: &generator, randomText),
          warnings: many(using: &generator, randomText)))
      try expectSame(
        SubmitNotificationResponse(
          verdict: .ok, events: many(using: &generator, FeedEvent.random)))
    }
  }

  @Test("Random receipts and their results survive encoding")
  func randomReceipts() throws {
    var generator = SeededRandom(for: "random receipts")
    for _ in 0..<200 {
      let request = SubmitReceiptRequest.random(using: &generator)
      #expect(try SubmitReceiptRequest.decode(from: request.encoded()) == request)
      let response = SubmitReceiptResponse.random(using: &generator)
      #expect(try SubmitReceiptResponse.decode(from: response.encoded()) == response)
    }
  }

  @Test("Random links, histories and watches survive encoding")
  func randomLinks() throws {
    var generator = SeededRandom(for: "random links")
    func expectSame<Message: WireMessage & Equatable>(_ message: Message) throws {
      #expect(try Message.decode(from: message.encoded()) == message)
    }
    for _ in 0..<200 {
      try expectSame(LinkResponse.random(using: &generator))
      try expectSame(ListLinksResponse(links: many(using: &generator, AccountLink.random)))
      try expectSame(
        GetLinkHistoryResponse(events: many(using: &generator, LinkHistoryEntry.random)))
      try expectSame(
        GetCustomerHistoryResponse(
          accountID: .random(using: &generator),
          entries: many(using: &generator, CustomerHistoryEntry.random)))
      try expectSame(
        ListUnlinkedChainsResponse(
          chains: many(using: &generator, UnlinkedChainEntry.random),
          nextPageToken: maybe(using: &generator, randomText)))
      try expectSame(
        ListNotificationsResponse(
          notifications: many(using: &generator, ReceivedNotificationEntry.random),
          nextPageToken: maybe(using: &generator, randomText)))
      try expectSame(WatchCustomerStatesRequest.random(using: &generator))
      try expectSame(
        WatchCustomerStatesResponse(
          cursor: randomText(using: &generator),
          change: maybe(using: &generator, CustomerChange.random)))
    }
  }

  @Test("Random jobs survive encoding")
  func randomJobs() throws {
    var generator = SeededRandom(for: "random jobs")
    for _ in 0..<200 {
      let request = ListJobsRequest.random(using: &generator)
      #expect(try ListJobsRequest.decode(from: request.encoded()) == request)
      let response = ListJobsResponse(
        jobs: many(using: &generator, JobEntry.random),
        nextPageToken: maybe(using: &generator, randomText))
      #expect(try ListJobsResponse.decode(from: response.encoded()) == response)
    }
  }

  @Test("Random offers survive encoding")
  func randomOffers() throws {
    var generator = SeededRandom(for: "random offers")
    for _ in 0..<200 {
      let request = SignPromotionalOfferRequest.random(using: &generator)
      #expect(try SignPromotionalOfferRequest.decode(from: request.encoded()) == request)
      let response = GetOfferEligibilityResponse(
        offers: many(using: &generator, OfferEligibilityEntry.random),
        revision: .random(in: .min ... .max, using: &generator),
        evaluatedAt: .random(using: &generator))
      #expect(try GetOfferEligibilityResponse.decode(from: response.encoded()) == response)
    }
  }

  @Test("Random callers and credentials survive encoding")
  func randomAccess() throws {
    var generator = SeededRandom(for: "random credentials")
    for _ in 0..<200 {
      let whoAmI = WhoAmIResponse.random(using: &generator)
      #expect(try WhoAmIResponse.decode(from: whoAmI.encoded()) == whoAmI)
      let credentials = CredentialsResponse.random(using: &generator)
      #expect(try CredentialsResponse.decode(from: credentials.encoded()) == credentials)
    }
  }

  @Test("Threads encode and decode concurrently")
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

  @Test("The id of a grant is read in lower case")
  func grantCase() throws {
    let id: GrantID = "7C9E6679-7425-40DE-944B-E07FC1F90AE7"
    let lower: GrantID = "7c9e6679-7425-40de-944b-e07fc1f90ae7"
    let add = AddGrantRequest(
      grantID: id, scope: MessageSample.scope, accountID: "a", entitlementID: "p", reason: "r",
      onBehalfOf: "o")
    #expect(try AddGrantRequest.decode(from: add.encoded()).grantID == lower)
    let withdraw = WithdrawGrantRequest(
      grantID: id, scope: MessageSample.scope, reason: "r", onBehalfOf: "o")
    #expect(try WithdrawGrantRequest.decode(from: withdraw.encoded()).grantID == lower)
  }

  @Test("A text with a NUL is refused, and the buffer is unchanged")
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

  @Test(
    "The page size of the feed is the default for 0 and at most the limit",
    arguments: [(0, 100), (1, 1), (1_000, 1_000), (1_001, 1_000), (1 << 40, 1_000)])
  func changePageSize(asked: Int, effective: Int) throws {
    let request = ListChangesRequest(pageSize: asked)
    #expect(try ListChangesRequest.decode(from: request.encoded()).effectivePageSize == effective)
  }

  @Test(
    "The page size of unlinked chains is the default for 0 and at most the limit",
    arguments: [(0, 100), (1, 1), (1_000, 1_000), (1_001, 1_000), (1 << 40, 1_000)])
  func chainPageSize(asked: Int, effective: Int) throws {
    let request = ListUnlinkedChainsRequest(scope: MessageSample.scope, pageSize: asked)
    let decoded = try ListUnlinkedChainsRequest.decode(from: request.encoded())
    #expect(decoded.effectivePageSize == effective)
  }

  @Test("Numbers out of range are clamped")
  func clamping() throws {
    let response = CatalogResponse(
      digest: "", inForceSince: 0, appCount: 1 << 40, productCount: 0, entitlementCount: 0,
      grandfatheringRuleCount: 0)
    let decoded = try CatalogResponse.decode(from: response.encoded())
    #expect(decoded.appCount == Int(Int32.max))
  }
}
