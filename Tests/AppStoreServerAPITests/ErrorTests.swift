import EntitlementDomain
import Foundation
import NIOCore
import TestSupport
import Testing

@testable import AppStoreServerAPI

@Suite("Errors of the API", .timeLimit(.minutes(2)))
struct ErrorTests {
  /// Every code of the reference, with whether it is retryable.
  private static let documented: [(code: Int, name: String?)] = [
    (4_000_000, "GeneralBadRequest"), (4_000_002, "InvalidAppIdentifier"),
    (4_000_005, "InvalidRequestRevision"), (4_000_006, "InvalidTransactionId"),
    (4_000_008, "InvalidOriginalTransactionId"), (4_000_009, "InvalidExtendByDays"),
    (4_000_010, "InvalidExtendReasonCode"), (4_000_011, "InvalidRequestIdentifier"),
    (4_000_012, "StartDateTooFarInPast"), (4_000_013, "StartDateAfterEndDate"),
    (4_000_014, "InvalidPaginationToken"), (4_000_017, "PaginationTokenExpired"),
    (4_000_019, "MultipleFiltersSupplied"), (4_000_021, "InvalidSort"),
    (4_000_030, "InvalidRevoked"), (4_000_031, "InvalidStatus"),
    (4_000_048, "AppTransactionIdNotSupported"), (4_000_183, "InvalidAppAccountTokenUUID"),
    (4_000_185, "FamilyTransactionNotSupported"), (4_000_209, nil), (4_000_227, nil),
    (4_030_004, "SubscriptionExtensionIneligible"), (4_030_005, "SubscriptionMaxExtension"),
    (4_030_007, "FamilySharedSubscriptionExtensionIneligible"), (4_030_028, nil),
    (4_040_001, "AccountNotFound"), (4_040_002, "AccountNotFoundRetryable"),
    (4_040_003, "AppNotFound"), (4_040_004, "AppNotFoundRetryable"),
    (4_040_005, "OriginalTransactionIdNotFound"),
    (4_040_006, "OriginalTransactionIdNotFoundRetryable"),
    (4_040_007, "ServerNotificationUrlNotFound"), (4_040_008, "TestNotificationNotFound"),
    (4_040_009, "StatusRequestNotFound"), (4_040_010, "TransactionIdNotFound"),
    (4_040_019, "AppTransactionDoesNotExist"), (4_290_000, "RateLimitExceeded"),
    (5_000_000, "GeneralInternal"), (5_000_001, "GeneralInternalRetryable"), (9_990_000, nil),
  ]

  private static let once: AppStoreServerLimits = {
    var limits = AppStoreServerLimits()
    limits.attempts = 1
    return limits
  }()

  @Test("Code, name, message and status are kept, known or not", arguments: documented)
  func codes(code: Int, name: String?) async throws {
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
      let retryable: Set = [
        4_040_002, 4_040_004, 4_040_006, 5_000_001, 4_290_000, 5_000_000,
      ]
      #expect(error.isRetryable == retryable.contains(code))
      #expect(!error.mayHaveTakenEffect)
      let text = name.map { "\(code) \($0)" } ?? "\(code)"
      #expect(error.message == "HTTP \(code / 10_000), \(text)")
      #expect(bench.server.requests.count == 1)
      let call = AppStoreServerStatistics.Call(
        endpoint: .transaction, environment: .production, failure: error.code)
      #expect(bench.client.statistics.calls == [call: 1])
    }
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
      text("signedTransactionInfo"), text("signedRenewalInfo"),
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
    let bodies = Rounds(150, of: "random answers", within: .seconds(3)).map { _ in
      RandomJSON.object(names, depth: 3, &random)
    }
    let answers = bodies.map { StubServer.Answer.json($0) }
    var limits = AppStoreServerLimits()
    limits.rateFactor = 10_000
    var read = 0
    for endpoint in EndpointCase.all where Self.fields[endpoint.name] != nil {
      try await Bench.run(answers, limits: limits) { bench in
        for body in bodies {
          do {
            let values = try await endpoint.call(bench.client, bench.deadline)
            read += 1
            // What was read is there: a value of each required field of the outermost object.
            let json = try JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any]
            for field in Self.fields[endpoint.name] ?? []
            where field.isRequired && Self.isOutermost(field.name, of: endpoint.name) {
              let value = json?[field.name]
              #expect(value != nil && !(value is NSNull), "\(values) of \(body)")
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
