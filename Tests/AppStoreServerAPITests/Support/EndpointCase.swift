import AppStoreServerAPI
import EntitlementDomain
import NIOCore
import Testing

/// A call of one endpoint, what is to be sent, and what is read from the answer.
struct EndpointCase: Sendable, CustomTestStringConvertible {
  typealias Call = @Sendable (AppStoreServerClient, NIODeadline) async throws -> [String?]

  let name: String
  let method: String
  /// Below `/inApps/`.
  let target: String
  var body = ""
  let answer: StubServer.Answer
  let values: [String?]
  let call: Call

  var testDescription: String { name }
}

extension EndpointCase {
  private static let app = Bench.app

  private static let history = StubServer.Answer.json(
    #"""
    {"revision":"r1","hasMore":true,"bundleId":"com.example.scribe","appAppleId":1234567890,
    "environment":"Production","signedTransactions":["a.b.c","d.e.f"],"unknown":{"x":[1]}}
    """#)

  private static func values(_ page: HistoryPage) -> [String?] {
    var values: [String?] = page.signedTransactions
    values.append(page.revision)
    values.append("\(page.hasMore)")
    values += [page.bundleID?.rawValue, page.appAppleID?.description, page.environment]
    return values
  }

  private static func values(_ statuses: SubscriptionStatuses) -> [String?] {
    var values: [String?] = [statuses.environment]
    for group in statuses.groups { values.append(group.subscriptionGroupID?.rawValue) }
    for subscription in statuses.subscriptions {
      values.append(subscription.originalTransactionID.rawValue)
      values.append("\(subscription.status)")
      values.append(subscription.knownStatus.map { "\($0)" })
      values += [subscription.signedTransactionInfo, subscription.signedRenewalInfo]
    }
    return values
  }

  private static func values(_ order: OrderLookup) -> [String?] {
    var values: [String?] = ["\(order.status)", "\(order.isValid)"]
    for transaction in order.signedTransactions { values.append(transaction) }
    return values
  }

  private static func values(_ page: SentNotificationPage) -> [String?] {
    var values: [String?] = page.notifications.map(\.signedPayload)
    values.append("\(page.hasMore)")
    values.append(page.paginationToken)
    return values
  }

  private static let readCases: [EndpointCase] = [
    EndpointCase(
      name: "transaction", method: "GET", target: "v1/transactions/20", answer: .transaction,
      values: ["a.b.c"]
    ) { [try await $0.transaction("20", in: app, deadline: $1)] },
    EndpointCase(
      name: "history, first page", method: "GET", target: "v2/history/10", answer: history,
      values: ["a.b.c", "d.e.f", "r1", "true", "com.example.scribe", "1234567890", "Production"]
    ) {
      values(try await $0.history(of: OriginalTransactionID("10"), in: app, deadline: $1))
    },
    EndpointCase(
      name: "history, all filters", method: "GET",
      target: "v2/history/700?revision=r0%3D%2F%2B&startDate=1700000000000&endDate=1800000000000"
        + "&productId=com.example.scribe.pro&productId=b%26c&productType=AUTO_RENEWABLE"
        + "&productType=NON_RENEWABLE&productType=CONSUMABLE&productType=NON_CONSUMABLE"
        + "&subscriptionGroupIdentifier=21000&subscriptionGroupIdentifier=21001"
        + "&inAppOwnershipType=FAMILY_SHARED&sort=DESCENDING&revoked=false",
      answer: .json(#"{"revision":"r2","hasMore":false,"signedTransactions":[]}"#),
      values: ["r2", "false", nil, nil, nil]
    ) {
      var query = HistoryQuery()
      query.startDate = 1_700_000_000_000
      query.endDate = 1_800_000_000_000
      query.productIDs = ["com.example.scribe.pro", "b&c"]
      query.productTypes = HistoryQuery.ProductType.allCases
      query.subscriptionGroupIDs = ["21000", "21001"]
      query.ownershipType = .familyShared
      query.isDescending = true
      query.isRevoked = false
      return values(
        try await $0.history(
          of: AppTransactionID("700"), in: app, matching: query, from: "r0=/+", deadline: $1))
    },
    EndpointCase(
      name: "statuses", method: "GET", target: "v1/subscriptions/20?status=1&status=4",
      answer: .json(
        #"""
        {"environment":"Moon","bundleId":"com.example.scribe","appAppleId":1234567890,"data":[
        {"subscriptionGroupIdentifier":"21000","lastTransactions":[
        {"originalTransactionId":"10","status":1,"signedTransactionInfo":"a.b.c",
        "signedRenewalInfo":"d.e.f"},
        {"originalTransactionId":"11","status":9,"signedTransactionInfo":"g.h.i",
        "signedRenewalInfo":"j.k.l"}]},{"lastTransactions":[]}]}
        """#),
      values: [
        "Moon", "21000", nil, "10", "1", "active", "a.b.c", "d.e.f", "11", "9", nil, "g.h.i",
        "j.k.l",
      ]
    ) {
      values(
        try await $0.subscriptionStatuses(
          of: TransactionID("20"), in: app, only: [.active, .grace], deadline: $1))
    },
    EndpointCase(
      name: "statuses, none", method: "GET", target: "v1/subscriptions/20",
      answer: .json(#"{"data":[]}"#), values: [nil]
    ) {
      values(try await $0.subscriptionStatuses(of: TransactionID("20"), in: app, deadline: $1))
    },
    EndpointCase(
      name: "refunds", method: "GET", target: "v2/refund/lookup/10?revision=r1",
      answer: .json(#"{"signedTransactions":["a.b.c"],"revision":"r2","hasMore":true}"#),
      values: ["a.b.c", "r2", "true"]
    ) {
      let page = try await $0.refunds(
        of: OriginalTransactionID("10"), in: app, from: "r1", deadline: $1)
      return [page.signedTransactions.first, page.revision, "\(page.hasMore)"]
    },
    EndpointCase(
      name: "order", method: "GET", target: "v1/lookup/MABC12DEF3",
      answer: .json(#"{"status":0,"signedTransactions":["a.b.c","d.e.f"]}"#),
      values: ["0", "true", "a.b.c", "d.e.f"]
    ) {
      values(try await $0.order("MABC12DEF3", of: app.bundleID, deadline: $1))
    },
    EndpointCase(
      name: "order, invalid", method: "GET", target: "v1/lookup/MABC12DEF4",
      answer: .json(#"{"status":1}"#), values: ["1", "false"]
    ) {
      values(try await $0.order("MABC12DEF4", of: app.bundleID, deadline: $1))
    },
    EndpointCase(
      name: "app transaction", method: "GET", target: "v1/transactions/appTransactions/20",
      answer: .json(#"{"signedAppTransactionInfo":"a.b.c"}"#), values: ["a.b.c"]
    ) { [try await $0.appTransaction(of: TransactionID("20"), in: app, deadline: $1)] },
  ]

  private static let massExtension = RenewalExtension(
    days: 45, reason: .serviceIssue, requestIdentifier: "outage-7")
  private static let renewalExtension = RenewalExtension(
    days: 45, reason: .serviceIssue, requestIdentifier: "outage \"7\"")

  private static let changeCases: [EndpointCase] = [
    EndpointCase(
      name: "finish", method: "POST", target: "v1/transactions/20/finish",
      answer: .whole(200, [:], ""), values: []
    ) {
      try await $0.finish("20", in: app, deadline: $1)
      return []
    },
    EndpointCase(
      name: "app account token", method: "PUT", target: "v1/transactions/10/appAccountToken",
      body: #"{"appAccountToken":"7e3fb20b-4cdb-47cc-936d-99d65f608138"}"#,
      answer: .whole(200, [:], ""), values: []
    ) {
      try await $0.setAppAccountToken(
        "7e3fb20b-4cdb-47cc-936d-99d65f608138", of: "10", in: app, deadline: $1)
      return []
    },
    EndpointCase(
      name: "consumption", method: "PUT", target: "v2/transactions/consumption/20",
      body: #"{"customerConsented":true,"sampleContentProvided":false,"#
        + #""deliveryStatus":"DELIVERED","refundPreference":"GRANT_PRORATED","#
        + #""consumptionPercentage":50000}"#,
      answer: .whole(202, [:], ""), values: []
    ) {
      try await $0.sendConsumption(
        ConsumptionInformation(
          customerConsented: true, sampleContentProvided: false, deliveryStatus: .delivered,
          refundPreference: .grantProrated, consumptionPercentage: 50_000),
        of: "20", in: app, deadline: $1)
      return []
    },
    EndpointCase(
      name: "consumption, least", method: "PUT", target: "v2/transactions/consumption/20",
      body: #"{"customerConsented":true,"sampleContentProvided":true,"#
        + #""deliveryStatus":"UNDELIVERED_SERVER_OUTAGE"}"#,
      answer: .whole(202, [:], ""), values: []
    ) {
      try await $0.sendConsumption(
        ConsumptionInformation(
          customerConsented: true, sampleContentProvided: true, deliveryStatus: .serverOutage),
        of: "20", in: app, deadline: $1)
      return []
    },
    EndpointCase(
      name: "consumption v1", method: "PUT", target: "v1/transactions/consumption/20",
      body: #"{"accountTenure":7,"appAccountToken":"","consumptionStatus":3,"#
        + #""customerConsented":true,"deliveryStatus":5,"lifetimeDollarsPurchased":6,"#
        + #""lifetimeDollarsRefunded":1,"platform":2,"playTime":4,"sampleContentProvided":true,"#
        + #""userStatus":4,"refundPreference":2}"#,
      answer: .whole(202, [:], ""), values: []
    ) {
      var information = LegacyConsumptionInformation(
        customerConsented: true, sampleContentProvided: true, deliveryStatus: 5)
      information.accountTenure = 7
      information.consumptionStatus = 3
      information.lifetimeDollarsPurchased = 6
      information.lifetimeDollarsRefunded = 1
      information.platform = 2
      information.playTime = 4
      information.userStatus = 4
      information.refundPreference = 2
      try await $0.sendConsumption(information, of: "20", in: app, deadline: $1)
      return []
    },
    EndpointCase(
      name: "extend one", method: "PUT", target: "v1/subscriptions/extend/10",
      body:
        #"{"extendByDays":45,"extendReasonCode":3,"requestIdentifier":"outage \"7\""}"#,
      answer: .json(
        #"""
        {"originalTransactionId":"10","webOrderLineItemId":"30","success":true,
        "effectiveDate":1800000000000}
        """#), values: ["true", "10", "30", "1800000000000"]
    ) {
      let result = try await $0.extendRenewal(
        of: "10", by: renewalExtension, in: app, deadline: $1)
      return [
        "\(result.success)", result.originalTransactionID?.rawValue,
        result.webOrderLineItemID?.rawValue, result.effectiveDate?.description,
      ]
    },
    EndpointCase(
      name: "mass extension", method: "POST", target: "v1/subscriptions/extend/mass",
      body: #"{"extendByDays":45,"extendReasonCode":3,"requestIdentifier":"outage-7","#
        + #""storefrontCountryCodes":["USA","DEU"],"productId":"com.example.scribe.pro"}"#,
      answer: .json(#"{"requestIdentifier":"outage-7"}"#), values: ["outage-7"]
    ) {
      let mass = MassRenewalExtension(
        massExtension, of: "com.example.scribe.pro", storefrontCountryCodes: ["USA", "DEU"])
      return [try await $0.extendRenewals(mass, in: app, deadline: $1)]
    },
    EndpointCase(
      name: "mass extension, everywhere", method: "POST", target: "v1/subscriptions/extend/mass",
      body: #"{"extendByDays":45,"extendReasonCode":3,"requestIdentifier":"outage-7","#
        + #""productId":"com.example.scribe.pro"}"#,
      answer: .json(#"{"requestIdentifier":"outage-7"}"#), values: ["outage-7"]
    ) {
      let mass = MassRenewalExtension(massExtension, of: "com.example.scribe.pro")
      return [try await $0.extendRenewals(mass, in: app, deadline: $1)]
    },
    EndpointCase(
      name: "mass extension's status", method: "GET",
      target: "v1/subscriptions/extend/mass/com.example.scribe.pro/outage%227%3F",
      answer: .json(
        #"""
        {"requestIdentifier":"outage7","complete":true,"completeDate":1800000000001,
        "succeededCount":30,"failedCount":2}
        """#), values: ["outage7", "true", "1800000000001", "30", "2"]
    ) {
      let status = try await $0.massExtensionStatus(
        of: "outage\"7?", product: "com.example.scribe.pro", in: app, deadline: $1)
      return [
        status.requestIdentifier, "\(status.isComplete)", status.completeDate?.description,
        status.succeededCount?.description, status.failedCount?.description,
      ]
    },
    EndpointCase(
      name: "mass extension's status, running", method: "GET",
      target: "v1/subscriptions/extend/mass/p/r",
      answer: .json(#"{"requestIdentifier":"r","complete":false}"#), values: ["false", nil]
    ) {
      let status = try await $0.massExtensionStatus(of: "r", product: "p", in: app, deadline: $1)
      return ["\(status.isComplete)", status.completeDate?.description]
    },
  ]

  private static let notificationCases: [EndpointCase] = [
    EndpointCase(
      name: "test notification", method: "POST", target: "v1/notifications/test",
      answer: .json(#"{"testNotificationToken":"ce3af791_1800000000000"}"#),
      values: ["ce3af791_1800000000000"]
    ) { [try await $0.requestTestNotification(in: app, deadline: $1)] },
    EndpointCase(
      name: "test notification's status", method: "GET",
      target: "v1/notifications/test/ce3af791_1800000000000",
      answer: .json(
        #"""
        {"signedPayload":"a.b.c","sendAttempts":[
        {"attemptDate":1800000000000,"sendAttemptResult":"NO_RESPONSE"},
        {"attemptDate":1800000003600,"sendAttemptResult":"SUCCESS"},
        {"attemptDate":1800000007200,"sendAttemptResult":"SOLAR_FLARE"}]}
        """#),
      values: [
        "a.b.c", "1800000000000 NO_RESPONSE false", "1800000003600 SUCCESS true",
        "1800000007200 SOLAR_FLARE false",
      ]
    ) {
      let sent = try await $0.testNotification("ce3af791_1800000000000", in: app, deadline: $1)
      var values: [String?] = [sent.signedPayload]
      for attempt in sent.sendAttempts {
        values.append("\(attempt.date) \(attempt.result) \(attempt.wasDelivered)")
      }
      return values
    },
    EndpointCase(
      name: "notification history, first page", method: "POST", target: "v1/notifications/history",
      body: #"{"startDate":1790000000000,"endDate":1800000000000}"#,
      answer: .json(
        #"""
        {"notificationHistory":[{"signedPayload":"a.b.c","sendAttempts":[]},
        {"signedPayload":"d.e.f"}],"hasMore":true,"paginationToken":"p1"}
        """#), values: ["a.b.c", "d.e.f", "true", "p1"]
    ) {
      let query = NotificationHistoryQuery(
        startDate: 1_790_000_000_000, endDate: 1_800_000_000_000)
      return values(try await $0.notifications(in: app, matching: query, deadline: $1))
    },
    EndpointCase(
      name: "notification history, by type", method: "POST",
      target: "v1/notifications/history?paginationToken=p%201",
      body: #"{"startDate":1,"endDate":2,"notificationType":"SUBSCRIBED","#
        + #""notificationSubtype":"INITIAL_BUY","onlyFailures":true}"#,
      answer: .json(#"{"notificationHistory":[],"hasMore":false}"#), values: ["false", nil]
    ) {
      let query = NotificationHistoryQuery(
        startDate: 1, endDate: 2, filter: .type(.subscribed, .initialBuy), onlyFailures: true)
      return values(
        try await $0.notifications(in: app, matching: query, from: "p 1", deadline: $1))
    },
    EndpointCase(
      name: "notification history, by transaction", method: "POST",
      target: "v1/notifications/history",
      body: #"{"startDate":1,"endDate":2,"transactionId":"20"}"#,
      answer: .json(#"{"notificationHistory":[],"hasMore":false,"paginationToken":""}"#),
      values: [nil]
    ) {
      let query = NotificationHistoryQuery(startDate: 1, endDate: 2, filter: .transaction("20"))
      return [
        try await $0.notifications(in: app, matching: query, deadline: $1).paginationToken
      ]
    },
  ]

  /// The table of all endpoints.
  static let all = readCases + changeCases + notificationCases
}
