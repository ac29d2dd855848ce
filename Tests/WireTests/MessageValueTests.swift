import EntitlementDomain
import NIOCore
import Testing

@testable import Wire

@Suite("Values in messages")
struct MessageValueTests {
  @Test("Values in Swift have the names and numbers of Protos, and none is missing")
  func enumerations() throws {
    let protos = try MessageProtos()
    expectSame(CoreState.self, protos.enumerations["CoreState"])
    expectSame(CallToAction.self, protos.enumerations["CallToAction"])
    expectSame(DetailedStatus.self, protos.enumerations["DetailedStatus"])
    expectSame(ExpirationReason.self, protos.enumerations["ExpirationReason"])
    expectSame(PriceConsent.self, protos.enumerations["PriceConsent"])
    expectSame(Notice.self, protos.enumerations["Notice"])
    expectSame(SubmissionVerdict.self, protos.enumerations["Verdict"], zero: "unrecognized")
    expectSame(SubmissionPriority.self, protos.enumerations["SubmissionPriority"])
    expectSame(SubmittedKind.self, protos.enumerations["PayloadKind"])
    expectSame(SubmissionDisposition.self, protos.enumerations["Disposition"])
    expectSame(SubmissionLinkOutcome.self, protos.enumerations["LinkOutcome"])
    expectSame(FeedEventKind.self, protos.enumerations["FeedEventKind"])
    expectSame(RefetchReason.self, protos.enumerations["RefetchReason"])
    expectSame(ChangeKind.self, protos.enumerations["ChangeKind"])
    expectSame(JobKind.self, protos.enumerations["JobKind"])
    expectSame(JobState.self, protos.enumerations["JobState"])
    expectSame(ConsumptionState.self, protos.enumerations["ConsumptionState"])
    expectSame(ConsumptionCause.self, protos.enumerations["ConsumptionCause"])
    expectSame(ConsumptionDelivery.self, protos.enumerations["ConsumptionDelivery"])
    expectSame(OfferKind.self, protos.enumerations["OfferKind"])
    expectSame(OfferSituation.self, protos.enumerations["OfferSituation"])
    expectSame(OfferRefusal.self, protos.enumerations["OfferRefusal"])
    expectSame(OfferSignatureFormat.self, protos.enumerations["OfferSignatureFormat"])
    expectSame(IntroductoryDecision.self, protos.enumerations["IntroductoryDecision"])
    expectSame(ImportRowState.self, protos.enumerations["ImportRowState"])
    expectSame(ImportFailure.self, protos.enumerations["ImportFailure"])
    expectSame(ImportAction.self, protos.enumerations["ImportAction"])
    expectSame(GrandfatheringOutcome.self, protos.enumerations["GrandfatheringOutcome"])
    expectSame(GrandfatheringReason.self, protos.enumerations["GrandfatheringReason"])
    expectSame(ConsideredItem.Kind.self, protos.enumerations["ConsideredItem.Kind"])
    #expect(
      protos.enumerations["HealthCheckResponse.ServingStatus"]
        == [0: "UNKNOWN", 1: "SERVING", 2: "NOT_SERVING", 3: "SERVICE_UNKNOWN"])
  }

  @Test("Properties of a state are the fields of Protos, and none is missing")
  func properties() throws {
    let protos = try MessageProtos()
    func expectFieldForEachProperty<Message: MappedMessage>(_ value: Message, more: Int = 0) {
      let name = Message.shape.name.split(separator: ".").last.map { String($0) }
      let fields = name.flatMap { protos.messages[$0] }
      #expect(
        Mirror(reflecting: value).children.count + more == fields?.count, "\(Message.self)")
    }
    let state = CustomerState.full
    // The scope has two fields.
    expectFieldForEachProperty(state, more: 1)
    let entitlement = try #require(state.entitlements.first)
    expectFieldForEachProperty(entitlement)
    // The origin has five fields.
    expectFieldForEachProperty(try #require(entitlement.sources.first), more: 4)
    expectFieldForEachProperty(try #require(state.grandfathering.first))
    expectFieldForEachProperty(try #require(state.products.first))
    let group = try #require(state.groups.first)
    expectFieldForEachProperty(group)
    expectFieldForEachProperty(group.standing)
    expectFieldForEachProperty(try #require(group.standing.pendingChange))
    expectFieldForEachProperty(try #require(group.standing.offer))
    expectFieldForEachProperty(try #require(group.standing.revocation))
    expectFieldForEachProperty(try #require(group.standing.commitment))
    // Scope and subject have two fields each.
    expectFieldForEachProperty(try #require(MessageSample.changes.first), more: 2)
    expectFieldForEachProperty(try #require(MessageSample.events.first))
    expectFieldForEachProperty(Grant.full, more: 1)
    expectFieldForEachProperty(try #require(Grant.full.withdrawal))
    expectFieldForEachProperty(CatalogResponse.full)
    expectFieldForEachProperty(try #require(CatalogResponse.full.lastAttempt))
    expectFieldForEachProperty(try #require(CatalogResponse.full.warnings.first))
    let explanation = try #require(Explanation.full.entitlements.first)
    expectFieldForEachProperty(explanation)
    expectFieldForEachProperty(try #require(Explanation.full.groups.first))
    expectFieldForEachProperty(explanation.reasoning)
    expectFieldForEachProperty(try #require(Explanation.full.omitted))
    expectFieldForEachProperty(explanation.reasoning.decision)
    expectFieldForEachProperty(try #require(explanation.reasoning.considered.first))
    expectFieldForEachProperty(try #require(explanation.reasoning.changes.first))
    expectFieldForEachProperty(SubmittedItemResult(verdict: .ok))
    expectFieldForEachProperty(SubmitNotificationResponse(verdict: .ok))
    expectFieldForEachProperty(SubmitReceiptResponse(verdict: .ok))
    expectFieldForEachProperty(ReceiptSummary.full, more: 1)
    expectFieldForEachProperty(SubmitReceiptRequest(receipt: []))
    expectFieldForEachProperty(SubmitSignedTransactionsRequest(signedPayloads: []))
    expectFieldForEachProperty(SubmitNotificationRequest(signedPayload: ""))
    expectFieldForEachProperty(ImportArchivedResponseRequest(bundleID: "", response: []))
    expectFieldForEachProperty(MessageSample.linkResponse)
    expectFieldForEachProperty(MessageSample.accountLinks[0])
    expectFieldForEachProperty(MessageSample.linkHistory[0])
    expectFieldForEachProperty(MessageSample.unlinkedChains[0])
    expectFieldForEachProperty(MessageSample.watchRequest)
    expectFieldForEachProperty(ListNotificationsRequest.full)
    // The scope has two fields.
    expectFieldForEachProperty(ListNotificationsResponse.full.notifications[0], more: 1)
    // Scope and subject have two fields each.
    expectFieldForEachProperty(MessageSample.customerChanges[0], more: 2)
    expectFieldForEachProperty(WatchCustomerStatesResponse(cursor: ""))
    expectFieldForEachProperty(NotificationEntry(notificationUUID: "", type: ""))
    expectFieldForEachProperty(ListJobsRequest.full)
    // The scope has two fields.
    expectFieldForEachProperty(JobEntry.refetch, more: 1)
    expectFieldForEachProperty(ReconcileNotificationsRequest.full, more: 1)
    expectFieldForEachProperty(RetryJobRequest(jobID: 1))
    expectFieldForEachProperty(CancelJobRequest(jobID: 1))
    expectFieldForEachProperty(GetTransactionRequest.full, more: 1)
    expectFieldForEachProperty(ListTransactionsRequest.full, more: 1)
    expectFieldForEachProperty(GetSubscriptionStatusesRequest.full, more: 1)
    expectFieldForEachProperty(ListRefundsRequest.full, more: 1)
    expectFieldForEachProperty(GetAppTransactionRequest.full, more: 1)
    expectFieldForEachProperty(ListSentNotificationsRequest.full, more: 1)
    expectFieldForEachProperty(ExtendRenewalRequest.full, more: 1)
    expectFieldForEachProperty(ExtendAllRenewalsRequest.full, more: 1)
    expectFieldForEachProperty(SetAppAccountTokenRequest.full, more: 1)
    expectFieldForEachProperty(AppStorePayload.full)
    expectFieldForEachProperty(AppStorePayloadsResponse.full, more: 1)
    expectFieldForEachProperty(
      try #require(GetSubscriptionStatusesResponse.full.subscriptions.first))
    expectFieldForEachProperty(try #require(SentNotificationsResponse.full.notifications.first))
    expectFieldForEachProperty(SentNotificationsResponse.full, more: 1)
    expectFieldForEachProperty(GetRenewalExtensionResponse.full, more: 1)
    expectFieldForEachProperty(AppStoreChangeResponse.full, more: 1)
    expectFieldForEachProperty(SetConsumptionConsentRequest.full, more: 1)
    expectFieldForEachProperty(SetConsumptionPercentageRequest.full, more: 1)
    expectFieldForEachProperty(ListConsumptionRequestsRequest.full, more: 1)
    expectFieldForEachProperty(SendConsumptionRequest.full, more: 1)
    expectFieldForEachProperty(ConsumptionRequestEntry.full, more: 1)
    expectFieldForEachProperty(ConsumptionConsentEntry.full)
    expectFieldForEachProperty(OfferEligibilityEntry.refused)
    // The scope has two fields.
    expectFieldForEachProperty(GetOfferEligibilityRequest.full, more: 1)
    expectFieldForEachProperty(GetOfferEligibilityResponse.full)
    expectFieldForEachProperty(SignPromotionalOfferRequest.full, more: 1)
    expectFieldForEachProperty(SignIntroductoryOfferEligibilityRequest.full, more: 1)
    expectFieldForEachProperty(SignOfferResponse.full)
    expectFieldForEachProperty(ImportAccountsRequest.full)
    expectFieldForEachProperty(ImportAccountsRequest.full.rows[0])
    expectFieldForEachProperty(ImportEntry.full)
    expectFieldForEachProperty(ImportRowEntry.full)
    expectFieldForEachProperty(ListImportsRequest())
    expectFieldForEachProperty(ListImportRowsRequest(importID: "", bundleID: ""))
    expectFieldForEachProperty(ChangeImportRequest(importID: "", action: .cancel, bundleID: ""))
    expectFieldForEachProperty(GetStatisticsResponse(counters: []))
    expectFieldForEachProperty(GetServerResponse(version: "", nodeName: ""))
    expectFieldForEachProperty(HealthCheckResponse(status: .serving))
  }

  @Test("An absent environment is production, an unknown one is refused (R9)")
  func environments() throws {
    let expected: [UInt64: StoreEnvironment] = [
      0: .production, 1: .production, 2: .sandbox, 3: .xcode, 4: .localTesting,
    ]
    for (number, environment) in expected {
      #expect(try request(environment: number).scope.environment == environment)
    }
    // The last is −1.
    for number in [5, 1_000, UInt64.max] {
      #expect(
        throws: MessageError(
          .unknownValue(field: "environment"), in: "entitle.v1.GetCustomerStateRequest")
      ) {
        try request(environment: number)
      }
    }
  }

  @Test("An unknown consistency is refused", arguments: [4, UInt64.max])
  func consistency(mode: UInt64) {
    let bytes = MessageBytes().field(1, message: MessageBytes().field(1, text: "a"))
      .field(2, text: "b").field(4, message: MessageBytes().field(1, number: mode))
    #expect(throws: MessageError(.unknownValue(field: "mode"), in: "entitle.v1.Consistency")) {
      try GetCustomerStateRequest.decode(from: bytes.buffer)
    }
  }

  @Test("Unknown values are read as Protos say", arguments: [77, UInt64.max])
  func newerValues(number: UInt64) throws {
    let standing = MessageBytes().field(1, number: 2).field(2, number: number)
      .field(3, number: number).field(13, number: number).field(20, number: number)
      .field(21, number: number).field(21, number: 3)
    let state = MessageBytes().field(1, text: "a").field(6, number: 2)
      .field(7, number: number).field(7, number: 4)
      .field(10, message: MessageBytes().field(1, text: "g").field(2, message: standing))
    let response = try GetCustomerStateResponse.decode(
      from: MessageBytes().field(1, message: state).buffer)
    guard case .state(let decoded) = response else {
      Issue.record("not a state")
      return
    }
    #expect(decoded.callsToAction == [.winBack])
    let group = try #require(decoded.groups.first)
    #expect(group.standing.status == .undetermined)
    #expect(group.standing.expirationReason == .other)
    #expect(group.standing.priceConsent == nil)
    #expect(group.standing.callToAction == .none)
    #expect(group.standing.notices == [.inferred])
  }

  @Test("A state needs its core state", arguments: [0, 4, UInt64.max])
  func coreState(number: UInt64) {
    let state = MessageBytes().field(1, text: "a").field(6, number: number)
    #expect(
      throws: MessageError(.unknownValue(field: "core_state"), in: "entitle.v1.CustomerState")
    ) {
      try GetCustomerStateResponse.decode(from: MessageBytes().field(1, message: state).buffer)
    }
  }

  @Test("An unknown verdict is not read as accepted")
  func verdict() throws {
    for number in [14, UInt64.max] {
      let bytes = MessageBytes().field(1, message: MessageBytes().field(1, number: number))
      let response = try SubmitSignedTransactionsResponse.decode(from: bytes.buffer)
      #expect(response.results == [SubmittedItemResult(verdict: .unrecognized)])
      let receipt = try SubmitReceiptResponse.decode(
        from: MessageBytes().field(1, number: number).buffer)
      #expect(receipt == SubmitReceiptResponse(verdict: .unrecognized))
    }
  }

  @Test("A kind and a state that are not known are absent from a job")
  func newerJobs() throws {
    for number in [77, UInt64.max] {
      let job = MessageBytes().field(1, number: 7).field(2, number: number).field(3, text: "a")
        .field(6, number: number).field(7, number: number).field(7, number: 3)
      let response = try JobResponse.decode(from: MessageBytes().field(1, message: job).buffer)
      #expect(response.job.kind == nil)
      #expect(response.job.state == nil)
      #expect(response.job.reasons == [.payloadMissing])
    }
  }

  @Test("A kind, a refusal and a situation that are not known are absent from an offer")
  func newerOffers() throws {
    for number in [77, UInt64.max] {
      let offer = MessageBytes().field(1, text: "p").field(3, number: number)
        .field(5, number: number).field(6, text: "R84").field(8, number: number)
      let response = try SignOfferResponse.decode(
        from: MessageBytes().field(7, message: offer).buffer)
      #expect(response.verdict.kind == nil)
      #expect(response.verdict.refusal == nil)
      #expect(response.verdict.situation == nil)
      #expect(response.verdict.rule == "R84")
      #expect(!response.verdict.isEligible)
    }
  }

  @Test("Missing fields of a request are refused by name", arguments: incomplete)
  func missing(field: String, messageType: String, decode: @Sendable () throws -> Void) {
    #expect(throws: MessageError(.missing(field: field), in: "entitle.v1." + messageType)) {
      try decode()
    }
  }

  static let incomplete: [(String, String, @Sendable () throws -> Void)] = {
    let customer = MessageBytes().field(1, message: MessageBytes().field(1, text: "a"))
    return [
      (
        "customer", "GetCustomerStateRequest",
        { _ = try GetCustomerStateRequest.decode(from: ByteBuffer()) }
      ),
      (
        "selector", "CustomerSelector",
        {
          let bytes = MessageBytes().field(1, message: MessageBytes())
          _ = try GetCustomerStateRequest.decode(from: bytes.buffer)
        }
      ),
      (
        "account_id", "CustomerSelector",
        {
          let bytes = MessageBytes().field(1, message: MessageBytes().field(1, text: ""))
          _ = try GetCustomerStateRequest.decode(from: bytes.buffer)
        }
      ),
      (
        "bundle_id", "GetCustomerStateRequest",
        { _ = try GetCustomerStateRequest.decode(from: customer.buffer) }
      ),
      (
        "bundle_id", "BatchGetCustomerStateRequest",
        { _ = try BatchGetCustomerStateRequest.decode(from: ByteBuffer()) }
      ),
      (
        "entitlement_id", "CheckEntitlementRequest",
        { _ = try CheckEntitlementRequest.decode(from: customer.field(2, text: "b").buffer) }
      ),
      (
        "bundle_id", "ListCustomersRequest",
        { _ = try ListCustomersRequest.decode(from: ByteBuffer()) }
      ),
      (
        "items", "SubmitSignedTransactionsRequest",
        { _ = try SubmitSignedTransactionsRequest.decode(from: ByteBuffer()) }
      ),
      (
        "signed_payload", "SignedItem",
        {
          let bytes = MessageBytes().field(3, message: MessageBytes())
          _ = try SubmitSignedTransactionsRequest.decode(from: bytes.buffer)
        }
      ),
      (
        "signed_payload", "SubmitNotificationRequest",
        { _ = try SubmitNotificationRequest.decode(from: ByteBuffer()) }
      ),
      (
        "receipt", "SubmitReceiptRequest",
        { _ = try SubmitReceiptRequest.decode(from: ByteBuffer()) }
      ),
      (
        "receipt", "SubmitReceiptRequest",
        {
          _ = try SubmitReceiptRequest.decode(from: MessageBytes().field(3, bytes: []).buffer)
        }
      ),
      (
        "bundle_id", "ImportArchivedResponseRequest",
        {
          let bytes = MessageBytes().field(3, text: "{}")
          _ = try ImportArchivedResponseRequest.decode(from: bytes.buffer)
        }
      ),
      (
        "response", "ImportArchivedResponseRequest",
        {
          let bytes = MessageBytes().field(1, text: "b")
          _ = try ImportArchivedResponseRequest.decode(from: bytes.buffer)
        }
      ),
      (
        "customer", "ExplainCustomerStateRequest",
        { _ = try ExplainCustomerStateRequest.decode(from: ByteBuffer()) }
      ),
      (
        "bundle_id", "ExplainCustomerStateRequest",
        { _ = try ExplainCustomerStateRequest.decode(from: customer.buffer) }
      ),
      (
        "bundle_id", "ReconcileNotificationsRequest",
        { _ = try ReconcileNotificationsRequest.decode(from: ByteBuffer()) }
      ),
      (
        "bundle_id", "SetConsumptionConsentRequest",
        { _ = try SetConsumptionConsentRequest.decode(from: ByteBuffer()) }
      ),
      (
        "bundle_id", "ListConsumptionRequestsRequest",
        { _ = try ListConsumptionRequestsRequest.decode(from: ByteBuffer()) }
      ),
      (
        "consent", "SetConsumptionConsentResponse",
        { _ = try SetConsumptionConsentResponse.decode(from: ByteBuffer()) }
      ),
      (
        "request", "SendConsumptionResponse",
        { _ = try SendConsumptionResponse.decode(from: ByteBuffer()) }
      ),
      (
        "rows", "ImportAccountsRequest",
        { _ = try ImportAccountsRequest.decode(from: ByteBuffer()) }
      ),
      (
        "import_id", "ChangeImportRequest",
        { _ = try ChangeImportRequest.decode(from: ByteBuffer()) }
      ),
      (
        "account_import", "GetImportResponse",
        { _ = try GetImportResponse.decode(from: ByteBuffer()) }
      ),
      (
        "job", "JobResponse",
        { _ = try JobResponse.decode(from: ByteBuffer()) }
      ),
      (
        "customer", "GetOfferEligibilityRequest",
        { _ = try GetOfferEligibilityRequest.decode(from: ByteBuffer()) }
      ),
      (
        "bundle_id", "SignPromotionalOfferRequest",
        { _ = try SignPromotionalOfferRequest.decode(from: customer.buffer) }
      ),
      (
        "bundle_id", "SignIntroductoryOfferEligibilityRequest",
        { _ = try SignIntroductoryOfferEligibilityRequest.decode(from: customer.buffer) }
      ),
      (
        "verdict", "SignOfferResponse",
        { _ = try SignOfferResponse.decode(from: ByteBuffer()) }
      ),
      (
        "answer", "GetCustomerStateResponse",
        { _ = try GetCustomerStateResponse.decode(from: ByteBuffer()) }
      ),
    ]
  }()

  private func request(environment: UInt64) throws -> GetCustomerStateRequest {
    let bytes = MessageBytes().field(1, message: MessageBytes().field(1, text: "a"))
      .field(2, text: "b").field(3, number: environment)
    return try GetCustomerStateRequest.decode(from: bytes.buffer)
  }

  /// Expects `CORE_STATE_NEW` = 1 for `CoreState.new` of raw value 1, and so on for all.
  private func expectSame<Value: RawRepresentable<Int> & CaseIterable>(
    _ type: Value.Type, _ inProtos: [Int: String]?, zero: String = "unspecified"
  ) {
    var names = inProtos ?? [:]
    let unspecified = names.removeValue(forKey: 0)
    #expect(unspecified?.hasSuffix("_UNSPECIFIED") == true, "\(type)")
    let prefix = unspecified?.dropLast("UNSPECIFIED".count) ?? ""
    let inSwift = type.allCases.filter { $0.rawValue != 0 }.map { value in
      (value.rawValue, prefix + Self.upperSnakeCase("\(value)"))
    }
    #expect(names == Dictionary(uniqueKeysWithValues: inSwift.map { ($0, String($1)) }))
    for value in type.allCases where value.rawValue == 0 { #expect("\(value)" == zero) }
  }

  private static func upperSnakeCase(_ name: String) -> String {
    name.reduce(into: "") { result, character in
      result += (character.isUppercase ? "_" : "") + character.uppercased()
    }
  }
}
