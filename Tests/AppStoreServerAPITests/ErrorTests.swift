import EntitlementDomain
import Foundation
import NIOCore
import Synchronization
import TestSupport
import Testing

@testable import AppStoreServerAPI

@Suite("Errors of the API", .timeLimit(.minutes(2)))
struct ErrorTests {
  /// Every code that the client names, and some that it does not, with whether a later call may
  /// succeed.
  private static let documented: [(code: Int, name: String?, isRetryable: Bool)] = [
    (4_000_000, "GeneralBadRequest", false),
    (4_000_002, "InvalidAppIdentifier", false),
    (4_000_005, "InvalidRequestRevision", false),
    (4_000_006, "InvalidTransactionId", false),
    (4_000_008, "InvalidOriginalTransactionId", false),
    (4_000_009, "InvalidExtendByDays", false),
    (4_000_010, "InvalidExtendReasonCode", false),
    (4_000_011, "InvalidRequestIdentifier", false),
    (4_000_012, "StartDateTooFarInPast", false),
    (4_000_013, "StartDateAfterEndDate", false),
    (4_000_014, "InvalidPaginationToken", false),
    (4_000_015, "InvalidStartDate", false),
    (4_000_016, "InvalidEndDate", false),
    (4_000_017, "PaginationTokenExpired", false),
    (4_000_018, "InvalidNotificationType", false),
    (4_000_019, "MultipleFiltersSupplied", false),
    (4_000_020, "InvalidTestNotificationToken", false),
    (4_000_021, "InvalidSort", false),
    (4_000_022, "InvalidProductType", false),
    (4_000_023, "InvalidProductId", false),
    (4_000_024, "InvalidSubscriptionGroupIdentifier", false),
    (4_000_025, "InvalidExcludeRevoked", false),
    (4_000_026, "InvalidInAppOwnershipType", false),
    (4_000_027, "InvalidEmptyStorefrontCountryCodeList", false),
    (4_000_028, "InvalidStorefrontCountryCode", false),
    (4_000_030, "InvalidRevoked", false),
    (4_000_031, "InvalidStatus", false),
    (4_000_032, "InvalidAccountTenure", false),
    (4_000_033, "InvalidAppAccountToken", false),
    (4_000_034, "InvalidConsumptionStatus", false),
    (4_000_035, "InvalidCustomerConsented", false),
    (4_000_036, "InvalidDeliveryStatus", false),
    (4_000_037, "InvalidLifetimeDollarsPurchased", false),
    (4_000_038, "InvalidLifetimeDollarsRefunded", false),
    (4_000_039, "InvalidPlatform", false),
    (4_000_040, "InvalidPlayTime", false),
    (4_000_041, "InvalidSampleContentProvided", false),
    (4_000_042, "InvalidUserStatus", false),
    (4_000_043, "InvalidTransactionNotConsumable", false),
    (4_000_044, "InvalidRefundPreference", false),
    (4_000_047, "InvalidTransactionTypeNotSupported", false),
    (4_000_048, "AppTransactionIdNotSupported", false),
    (4_000_183, "InvalidAppAccountTokenUUID", false),
    (4_000_185, "FamilyTransactionNotSupported", false),
    (4_000_187, "TransactionIdIsNotOriginalTransactionId", false),
    (4_000_209, nil, false),
    (4_000_227, nil, false),
    (4_030_004, "SubscriptionExtensionIneligible", false),
    (4_030_005, "SubscriptionMaxExtension", false),
    (4_030_007, "FamilySharedSubscriptionExtensionIneligible", false),
    (4_030_028, nil, false),
    (4_040_001, "AccountNotFound", false),
    (4_040_002, "AccountNotFoundRetryable", true),
    (4_040_003, "AppNotFound", false),
    (4_040_004, "AppNotFoundRetryable", true),
    (4_040_005, "OriginalTransactionIdNotFound", false),
    (4_040_006, "OriginalTransactionIdNotFoundRetryable", true),
    (4_040_007, "ServerNotificationUrlNotFound", false),
    (4_040_008, "TestNotificationNotFound", false),
    (4_040_009, "StatusRequestNotFound", false),
    (4_040_010, "TransactionIdNotFound", false),
    (4_040_019, "AppTransactionDoesNotExist", false),
    (4_290_000, "RateLimitExceeded", true),
    (5_000_000, "GeneralInternal", true),
    (5_000_001, "GeneralInternalRetryable", true),
    (9_990_000, nil, false),
  ]

  private static let once: AppStoreServerLimits = {
    var limits = AppStoreServerLimits()
    limits.attempts = 1
    return limits
  }()

  @Test("Code, name, message and status are kept, known or not", arguments: documented)
  func codes(code: Int, name: String?, isRetryable: Bool) async throws {
    // A form of JSON that Apple's own client loses the code of.
    let answer = StubServer.Answer.whole(
      code / 10_000, ["content-type": "application/json;charset=utf-8"],
      #"{"errorCode":\#(code),"errorMessage":"Text of \#(code).","more":[null]}"#)
    try await Bench.run([answer], limits: Self.once) { bench in
      let error = try #require(await bench.failure())
      #expect(error.code == (code == 4_290_000 ? .rateLimited : .refused))
      #expect(error.status == code / 10_000)
      #expect(error.errorCode?.rawValue == Int64(code))
      #expect(error.errorCode?.name == name)
      #expect(error.appleMessage == "Text of \(code).")
      #expect(error.isRetryable == isRetryable)
      // Apple's list has neither 429 nor 5000000.
      let isApples = isRetryable && ![4_290_000, 5_000_000].contains(code)
      #expect(error.errorCode?.isRetryable == isApples)
      #expect(!error.mayHaveTakenEffect)
      let text = name.map { "\(code) \($0)" } ?? "\(code)"
      #expect(error.message == "HTTP \(code / 10_000), \(text)")
      #expect(bench.server.requests.count == 1)
      let call = AppStoreServerStatistics.Call(
        endpoint: .transaction, environment: .production, failure: error.code)
      #expect(bench.client.statistics.calls == [call: 1])
    }
  }

  @Test("The table has every code that the client names")
  func names() {
    let codes = Self.documented.filter { $0.name != nil }.map { Int64($0.code) }
    #expect(Set(codes) == Set(AppStoreErrorCode.names.keys))
  }

  @Test(
    "An error without Apple's code is told by its status",
    arguments: [
      (400, "application/json", "{}"), (400, "application/json", ""),
      (401, "text/plain", "Unauthenticated\n\nRequest ID: X.0.0\n"),
      (403, "text/html", "<html>"), (404, "application/json", #"{"errorCode":"4040010"}"#),
      (404, "application/json", #"{"errorCode":4040010.5}"#), (404, "text/plain", "[4040010]"),
      (413, "text/plain", "x"), (500, "text/html", "<html>"), (502, "", ""), (503, "", "x"),
      (504, "text/html", String(repeating: "x", count: 100_000)),
    ])
  func withoutCode(status: Int, type: String, body: String) async throws {
    try await Bench.run([.whole(status, ["content-type": type], body)], limits: Self.once) {
      bench in
      let error = try #require(await bench.failure())
      #expect(error.code == (status == 401 ? .unauthorized : .refused))
      #expect(error.status == status)
      #expect(error.errorCode == nil)
      #expect(error.appleMessage == nil)
      #expect(error.isRetryable == (status >= 500))
      #expect(error.message.hasPrefix("HTTP \(status)"))
    }
  }

  @Test("Apple's text is bounded, on one line, and not part of the description")
  func message() async throws {
    let text = #"a\nb\u001b[31m\u0000c\u202Ed\u2028e"# + String(repeating: "ä", count: 400)
    try await Bench.run([.error(4_000_006, text)]) { bench in
      let error = try #require(await bench.failure())
      let message = try #require(error.appleMessage)
      #expect(message.hasPrefix("a b [31m c d eää"))
      #expect(message.unicodeScalars.count == 256)
      #expect(error.description == "refused: HTTP 400, 4000006 InvalidTransactionId")
    }
  }

  @Test(
    "A redirect is not followed",
    arguments: [301, 302, 303, 307, 308])
  func redirects(status: Int) async throws {
    let target = try await StubServer([.transaction])
    try await Bench.run([
      .whole(status, ["location": "\(target.url)/inApps/v1/transactions/1"], "")
    ]) { bench in
      let error = try #require(await bench.failure())
      #expect(error.code == .invalidResponse)
      #expect(error.message == "HTTP \(status): redirects are not followed")
      #expect(error.status == status)
      #expect(bench.server.requests.count == 1)
      #expect(target.requests.isEmpty)
    }
  }

  @Test(
    "An answer that is not Apple's JSON is named by what is wrong, without its content",
    arguments: [
      (
        "text/html", #"{"signedTransactionInfo":"secret"}"#,
        "the Content-Type is not application/json"
      ),
      ("", #"{"signedTransactionInfo":"secret"}"#, "the Content-Type is not application/json"),
      ("application/json", "secret", "not JSON: a value is missing, at byte 0"),
      ("application/json", "", "not JSON: the text ends early, at byte 0"),
      ("application/json", #"["secret"]"#, "the JSON is not an object"),
      ("application/json", "{}", "signedTransactionInfo is missing"),
      ("application/json", #"{"signedTransactionInfo":null}"#, "signedTransactionInfo is missing"),
      ("application/json", #"{"signedTransactionInfo":""}"#, "signedTransactionInfo is missing"),
      (
        "application/json", #"{"signedTransactionInfo":4711}"#,
        "signedTransactionInfo is not a string"
      ),
      (
        "application/json", #"{"signedTransactionInfo":"a","signedTransactionInfo":"secret"}"#,
        "a name occurs twice in one object, again at byte 30"
      ),
    ])
  func invalidAnswers(type: String, body: String, message: String) async throws {
    try await Bench.run([.whole(200, ["content-type": type], body)]) { bench in
      let error = try #require(await bench.failure())
      #expect(error.code == .invalidResponse)
      #expect(error.message == message)
      #expect(error.status == 200)
      #expect(!error.isRetryable)
      #expect(!error.mayHaveTakenEffect)
      #expect(bench.server.requests.count == 1)
    }
  }

  @Test("A charset of the Content-Type does not matter")
  func charset() async throws {
    try await Bench.run([
      .whole(
        200, ["content-type": "Application/JSON; charset=utf-8"],
        #"{"signedTransactionInfo":"a.b.c"}"#)
    ]) { bench in
      let transaction = try await bench.transaction()
      #expect(transaction == "a.b.c")
    }
  }

  @Test(
    "Environments without a server are refused", arguments: [StoreEnvironment.xcode, .localTesting])
  func environments(environment: StoreEnvironment) async throws {
    try await Bench.run([.transaction]) { bench in
      let app = AppScope(bundleID: Bench.app.bundleID, environment: environment)
      #expect(await bench.failure(in: app)?.code == .unsupportedEnvironment)
      #expect(bench.server.requests.isEmpty)
    }
  }
}

@Suite("Fields of answers", .timeLimit(.minutes(2)))
struct AnswerFieldTests {
  /// A field and what must be said without it, and with a value of another type.
  private struct Field {
    let name: String
    let isRequired: Bool
    let wrong: String
  }

  private static func text(_ name: String, isRequired: Bool = true) -> Field {
    Field(name: name, isRequired: isRequired, wrong: "7")
  }

  private static func other(_ name: String, isRequired: Bool = true) -> Field {
    Field(name: name, isRequired: isRequired, wrong: #""7""#)
  }

  /// The fields of the answers of the table of endpoints, by the case's name.
  private static let fields: [String: [Field]] = [
    "transaction": [text("signedTransactionInfo")],
    "history, first page": [
      text("revision"), other("hasMore"), other("signedTransactions"),
      text("bundleId", isRequired: false), other("appAppleId", isRequired: false),
      text("environment", isRequired: false),
    ],
    "statuses": [
      other("data"), other("lastTransactions"), text("originalTransactionId"), other("status"),
      text("signedTransactionInfo"), text("signedRenewalInfo", isRequired: false),
      text("subscriptionGroupIdentifier", isRequired: false),
    ],
    "refunds": [text("revision"), other("hasMore"), other("signedTransactions")],
    "order": [other("status"), other("signedTransactions")],
    "app transaction": [text("signedAppTransactionInfo")],
    "extend one": [
      other("success"), text("originalTransactionId", isRequired: false),
      text("webOrderLineItemId", isRequired: false), other("effectiveDate", isRequired: false),
    ],
    "mass extension": [text("requestIdentifier")],
    "mass extension's status": [
      text("requestIdentifier"), other("complete"), other("completeDate", isRequired: false),
      other("succeededCount", isRequired: false), other("failedCount", isRequired: false),
    ],
    "test notification": [text("testNotificationToken")],
    "test notification's status": [
      text("signedPayload"), other("attemptDate"), text("sendAttemptResult"),
      other("sendAttempts", isRequired: false),
    ],
    "notification history, first page": [
      other("notificationHistory"), text("signedPayload"), other("hasMore"),
      text("paginationToken"),
    ],
  ]

  @Test("The fields are those of answers in the table of endpoints")
  func names() {
    #expect(Set(Self.fields.keys).isSubset(of: EndpointCase.all.map(\.name)))
  }

  @Test(
    "Without a required field, or with a field of another type, there is an error that names it",
    arguments: EndpointCase.all.filter { fields[$0.name] != nil })
  func missing(_ endpoint: EndpointCase) async throws {
    guard case .whole(_, _, let body) = endpoint.answer else { return }
    for field in Self.fields[endpoint.name] ?? [] {
      let name = "\"\(field.name)\":"
      #expect(body.contains(name))
      let renamed = body.replacing(name, with: "\"renamed\(field.name)\":", maxReplacements: 1)
      #expect(
        try await failure(endpoint, renamed)
          == (field.isRequired ? "\(field.name) is missing" : nil))
      // The present value becomes that of another field.
      let mistyped = body.replacing(
        name, with: "\(name)\(field.wrong),\"former\":", maxReplacements: 1)
      let message = try #require(try await failure(endpoint, mistyped))
      #expect(message.hasPrefix("\(field.name) is not a"), "\(message)")
      #expect(!message.contains("7"))
    }
  }

  /// The message of the error; nil if there is none.
  private func failure(_ endpoint: EndpointCase, _ body: String) async throws -> String? {
    try await Bench.run([.json(body)]) { bench in
      do {
        _ = try await endpoint.call(bench.client, bench.deadline)
        return nil
      } catch let error as AppStoreServerError {
        #expect(error.code == .invalidResponse)
        return error.message
      }
    }
  }

  @Test("Random JSON never crashes, and gives no value without what is required")
  func random() async throws {
    var random = SeededRandom(for: "random answers")
    let names = Array(Set(Self.fields.values.joined().map(\.name))).sorted()
    let body = Mutex("")
    let server = try await StubServer { _, _ in .json(body.withLock { $0 }) }
    var limits = AppStoreServerLimits()
    limits.rateFactor = 10_000
    var read = 0
    try await Bench.run(server: server, limits: limits) { bench in
      for round in Rounds(150, of: "random answers", within: .seconds(3)) {
        // One that is complete for some endpoints.
        let text =
          round == 0
          ? #"{"signedTransactionInfo":"text"}"# : RandomJSON.object(names, depth: 3, &random)
        body.withLock { $0 = text }
        for endpoint in EndpointCase.all where Self.fields[endpoint.name] != nil {
          do {
            let values = try await endpoint.call(bench.client, bench.deadline)
            read += 1
            // What was read is there: a value of each required field of the outermost object.
            let json = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
            for field in Self.fields[endpoint.name] ?? []
            where field.isRequired && Self.isOutermost(field.name, of: endpoint.name) {
              let value = json?[field.name]
              #expect(value != nil && !(value is NSNull), "\(values) of \(text)")
            }
          } catch let error as AppStoreServerError {
            #expect(error.code == .invalidResponse || error.code == .endlessPages)
          }
        }
      }
    }
    print("random answers: \(read) were complete")
    #expect(read > 0)
  }

  private static func isOutermost(_ name: String, of endpoint: String) -> Bool {
    switch endpoint {
    case "statuses": name == "data"
    case "order": name == "status"
    case "test notification's status": name == "signedPayload"
    case "notification history, first page": name == "notificationHistory" || name == "hasMore"
    default: true
    }
  }
}

/// JSON of Apple's names with values of any type, right ones among them.
private enum RandomJSON {
  static func object(_ names: [String], depth: Int, _ random: inout SeededRandom) -> String {
    let chosen = names.shuffled(using: &random).prefix(.random(in: 0...names.count, using: &random))
    let members = chosen.map { "\"\($0)\":\(value(names, depth: depth - 1, &random))" }
    return "{\(members.joined(separator: ","))}"
  }

  private static func value(
    _ names: [String], depth: Int, _ random: inout SeededRandom
  ) -> String {
    let kinds = depth > 0 ? 9 : 7
    switch Int.random(in: 0..<kinds, using: &random) {
    case 0, 1: return "\"text\""
    case 2: return Bool.random(using: &random) ? "true" : "false"
    case 3, 4:
      return ["0", "1", "-1", "1e3", "0.5", "99999999999999999999"].randomElement(using: &random)
        ?? "0"
    case 5: return "[\"a\",\"b\"]"
    case 6: return ["null", "\"\"", "[]", "{}"].randomElement(using: &random) ?? "null"
    case 7: return object(names, depth: depth, &random)
    default: return "[\(object(names, depth: depth, &random))]"
    }
  }
}
