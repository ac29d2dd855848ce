import EntitlementDomain
package import EntitlementService
import EntitlementStore
package import RPCServer
import Wire

/// `entitle.v1.ConsumptionService`: what the App Store is told about the consumption of purchases.
package struct ConsumptionEndpoint: Sendable {
  private let records: ConsumptionRecords

  package init(records: ConsumptionRecords) {
    self.records = records
  }

  package func register(in router: inout RPCRouter) {
    router.unary(WireMethods.setConsumptionConsent, setConsent)
    router.unary(WireMethods.getConsumptionConsent, getConsent)
    router.unary(WireMethods.setConsumptionPercentage, setPercentage)
    router.unary(WireMethods.listConsumptionRequests, listRequests)
    router.unary(WireMethods.sendConsumption, send)
  }

  @Sendable
  private func setConsent(_ call: RPCCall, _ answer: RPCAnswer) {
    let caller = call.auditCaller
    answer.respond(to: call, SetConsumptionConsentRequest.self) { request in
      .later {
        let (consent, isChanged) = try await records.setConsent(
          request.isConsented, of: request.accountID, in: request.scope,
          ChangeAudit(
            onBehalfOf: request.onBehalfOf, reason: request.reason ?? "", caller: caller))
        return try SetConsumptionConsentResponse(
          consent: ConsumptionConsentEntry(consent), isChanged: isChanged
        ).encoded()
      }
    }
  }

  @Sendable
  private func getConsent(_ call: RPCCall, _ answer: RPCAnswer) {
    answer.respond(to: call, GetConsumptionConsentRequest.self) { request in
      .later {
        let consent = try await records.consent(of: request.accountID, in: request.scope)
        return try GetConsumptionConsentResponse(
          consent: consent.map { ConsumptionConsentEntry($0) }
        ).encoded()
      }
    }
  }

  @Sendable
  private func setPercentage(_ call: RPCCall, _ answer: RPCAnswer) {
    let caller = call.auditCaller
    answer.respond(to: call, SetConsumptionPercentageRequest.self) { request in
      .later {
        let isChanged = try await records.record(
          ConsumptionStatement(
            percentage: request.percentage, deliveryStatus: request.delivery?.status),
          of: request.transactionID, in: request.scope,
          ChangeAudit(
            onBehalfOf: request.onBehalfOf, reason: request.reason ?? "", caller: caller))
        return try SetConsumptionPercentageResponse(isChanged: isChanged).encoded()
      }
    }
  }

  @Sendable
  private func listRequests(_ call: RPCCall, _ answer: RPCAnswer) {
    answer.respond(to: call, ListConsumptionRequestsRequest.self) { request in
      .later {
        if let transaction = request.transactionID {
          let record = try await records.request(about: transaction, in: request.scope)
          let found = record.flatMap { ConsumptionRequestEntry($0) }
          let isSelected = request.state == nil || found?.state == request.state
          return try ListConsumptionRequestsResponse(
            requests: isSelected ? found.map { [$0] } ?? [] : [], nextPageToken: nil
          ).encoded()
        }
        var query = ConsumptionQuery(
          bundleID: request.scope.bundleID, environment: request.scope.environment,
          state: request.state.flatMap { ConsumptionRequest.State(rawValue: $0.rawValue) },
          limit: request.effectivePageSize, scanLimit: ListConsumptionRequestsRequest.scanLimit)
        if let token = request.pageToken {
          guard let last = Int64(token), last > 0 else {
            throw ServiceError(
              .invalidArgument(field: "page_token"), "the page token is not one of this server")
          }
          query.after = last
        }
        let page = try await records.requests(query)
        return try ListConsumptionRequestsResponse(
          requests: page.records.compactMap { ConsumptionRequestEntry($0) },
          nextPageToken: page.next.map { "\($0)" }
        ).encoded()
      }
    }
  }

  @Sendable
  private func send(_ call: RPCCall, _ answer: RPCAnswer) {
    let caller = call.auditCaller
    answer.respond(to: call, SendConsumptionRequest.self) { request in
      .later {
        let (record, isChanged) = try await records.send(
          about: request.transactionID, in: request.scope, isDryRun: request.isDryRun,
          ChangeAudit(
            onBehalfOf: request.onBehalfOf, reason: request.reason ?? "", caller: caller))
        guard let entry = ConsumptionRequestEntry(record) else {
          throw ServiceError(.internalFault, "a record without a request was opened")
        }
        return try SendConsumptionResponse(request: entry, isChanged: isChanged).encoded()
      }
    }
  }
}

// MARK: Messages

extension ListConsumptionRequestsRequest {
  /// How many records a page looks through, as for jobs.
  static let scanLimit = 1_000
}

extension ConsumptionConsentEntry {
  init(_ consent: ConsumptionConsent) {
    self.init(
      isConsented: consent.isGiven, recordedAt: consent.at, author: consent.author,
      onBehalfOf: consent.onBehalfOf, reason: consent.note.isEmpty ? nil : consent.note)
  }
}

extension ConsumptionRequestEntry {
  /// Nil for a record without a request.
  fileprivate init?(_ record: ConsumptionRecord) {
    guard let request = record.request else { return nil }
    self.init(
      requestID: record.id ?? 0, scope: record.key.scope,
      transactionID: record.key.transactionID, notificationUUID: request.notificationUUID,
      requestReason: request.reason, requestedAt: request.requestedAt,
      answerUntil: request.deadline, state: ConsumptionState(rawValue: request.state.rawValue),
      cause: request.cause, detail: request.detail.isEmpty ? nil : request.detail,
      attempts: request.attempts, changedAt: request.changedAt,
      percentage: record.statement.percentage,
      delivery: record.statement.deliveryStatus.map { ConsumptionDelivery($0) })
  }
}

extension ConsumptionDelivery {
  fileprivate init(_ status: ConsumptionInformation.DeliveryStatus) {
    self =
      switch status {
      case .delivered: .delivered
      case .qualityIssue: .undeliveredQualityIssue
      case .wrongItem: .undeliveredWrongItem
      case .serverOutage: .undeliveredServerOutage
      case .other: .undeliveredOther
      }
  }

  fileprivate var status: ConsumptionInformation.DeliveryStatus {
    switch self {
    case .delivered: .delivered
    case .undeliveredQualityIssue: .qualityIssue
    case .undeliveredWrongItem: .wrongItem
    case .undeliveredServerOutage: .serverOutage
    case .undeliveredOther: .other
    }
  }
}
