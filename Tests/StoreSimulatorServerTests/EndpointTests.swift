import EntitlementDomain
import Foundation
import StoreSimulator
import StoreSimulatorServer
import TestSupport
import Testing

@Suite("Endpoints of the App Store Server API", .timeLimit(.minutes(2)))
struct EndpointTests {
  @Test func `transactions, histories and statuses of a customer`() async throws {
    let bench = try await StoreBench(.production)
    let first = try bench.buy(SimulatedApp.proMonthly, by: "one")
    _ = try bench.buy(SimulatedApp.tokens, by: "one")
    try bench.advance(days: 40)

    let info = try bench.get("v1/transactions/\(first)")
    #expect(info.status == 200 && info.type == "application/json")
    let payload = try StoreBench.payload(info.text("signedTransactionInfo"))
    #expect(payload["transactionId"] as? String == first)
    let now = StoreBench.start.rawValue + 40 * Milliseconds.dayLength
    #expect((payload["signedDate"] as? Int64).map { $0 >= now } == true)

    let history = try bench.get("v2/history/\(first)")
    #expect(history.texts("signedTransactions").count == 3)
    #expect(history.json["hasMore"] as? Bool == false)
    #expect(history.text("bundleId") == "com.example.scribe")
    #expect(history.json["appAppleId"] as? Int == 1_234_567_890)
    #expect(history.text("environment") == "Production")
    let latest = try StoreBench.payload(history.texts("signedTransactions").last)
    let renewed = try #require(latest["transactionId"] as? String)

    let statuses = try bench.get("v1/subscriptions/\(renewed)?status=1&status=4")
    let group = try #require(statuses.objects("data").first)
    #expect(group["subscriptionGroupIdentifier"] as? String == "21000001")
    let item = try #require((group["lastTransactions"] as? [[String: Any]])?.first)
    #expect(item["status"] as? Int == 1)
    #expect(item["originalTransactionId"] as? String == first)
    #expect(
      try StoreBench.payload(item["signedTransactionInfo"] as? String)["transactionId"] as? String
        == renewed)
    #expect(
      try StoreBench.payload(item["signedRenewalInfo"] as? String)["autoRenewStatus"] as? Int == 1)
    #expect(try bench.get("v1/subscriptions/\(renewed)?status=5").objects("data").isEmpty)

    let application = try bench.get("v1/transactions/appTransactions/\(first)")
    let app = try StoreBench.payload(application.text("signedAppTransactionInfo"))
    let appID = try #require(app["appTransactionId"] as? String)
    #expect(try bench.get("v2/history/\(appID)").texts("signedTransactions").count == 3)
    #expect(try bench.get("v1/transactions/\(appID)").errorCode == 4_000_048)
    await bench.stop()
  }

  @Test func `pages, and revisions that give what changed since`() async throws {
    let bench = try await StoreBench()
    var ids: [String] = []
    for _ in 0..<45 { ids.append(try bench.buy(SimulatedApp.tokens, by: "one")) }
    func page(_ query: String) throws -> StoreBench.Answer {
      try bench.get("v2/history/\(ids[0])?\(query)")
    }
    func transactionIDs(_ answer: StoreBench.Answer) throws -> [String] {
      try answer.texts("signedTransactions").map {
        try StoreBench.payload($0)["transactionId"] as? String ?? ""
      }
    }
    var seen: [String] = []
    var answer = try page("")
    seen += try transactionIDs(answer)
    #expect(seen.count == 20 && answer.json["hasMore"] as? Bool == true)
    // A transaction that changes while it is paged comes again.
    #expect(try bench.control("refund", "{\"transactionId\":\"\(ids[2])\"}").status == 200)
    while answer.json["hasMore"] as? Bool == true {
      answer = try page("revision=\(try #require(answer.text("revision")))")
      seen += try transactionIDs(answer)
    }
    #expect(seen == ids + [ids[2]])
    let revision = try #require(answer.text("revision"))
    #expect(try transactionIDs(try page("revision=\(revision)")) == [])
    let more = try bench.buy(SimulatedApp.adFree, by: "one")
    #expect(try transactionIDs(try page("revision=\(revision)")) == [more])
    #expect(try page("revision=\(revision)&sort=DESCENDING").errorCode == 4_000_005)

    answer = try page("sort=DESCENDING")
    #expect(try transactionIDs(answer).prefix(2) == [more, ids[2]])
    answer = try page("sort=DESCENDING&revision=\(try #require(answer.text("revision")))")
    #expect(try transactionIDs(answer).first == ids[26])

    let refunds = try bench.get("v2/refund/lookup/\(ids[7])")
    #expect(try transactionIDs(refunds) == [ids[2]])
    let stored = try #require(refunds.text("revision"))
    let later = try bench.get("v2/refund/lookup/\(ids[7])?revision=\(stored)")
    #expect(later.texts("signedTransactions") == [] && later.json["hasMore"] as? Bool == false)
    await bench.stop()
  }

  @Test(
    "Filters of a history",
    arguments: [
      ("productType=CONSUMABLE", 2), ("productType=CONSUMABLE&productType=NON_CONSUMABLE", 3),
      ("productType=AUTO_RENEWABLE", 3), ("productId=com.example.scribe.adfree", 1),
      ("subscriptionGroupIdentifier=21000001", 3), ("inAppOwnershipType=FAMILY_SHARED", 0),
      ("revoked=True", 1), ("revoked=false", 6), ("excludeRevoked=true", 6),
      ("startDate=1773000000000", 3), ("endDate=1773000000000", 4),
      ("startDate=1773000000000&endDate=9999999999999&revoked=true", 0),
    ])
  func filters(query: String, count: Int) async throws {
    let bench = try await StoreBench()
    let id = try bench.buy(SimulatedApp.proMonthly, by: "one")
    let refunded = try bench.buy(SimulatedApp.tokens, by: "one")
    _ = try bench.buy(SimulatedApp.tokens, by: "one")
    _ = try bench.control("refund", "{\"transactionId\":\"\(refunded)\"}")
    _ = try bench.buy(SimulatedApp.adFree, by: "one")
    try bench.advance(days: 40)
    _ = try bench.buy(SimulatedApp.season, by: "one")
    try bench.advance(days: 31)
    let all = try bench.get("v2/history/\(id)")
    #expect(all.texts("signedTransactions").count == 7)
    #expect(
      try bench.get("v2/history/\(id)?\(query)").texts("signedTransactions").count == count)
    await bench.stop()
  }

  @Test func `orders are found in Production`() async throws {
    for (environment, status) in [(StoreEnvironment.production, 0), (.sandbox, 1)] {
      let bench = try await StoreBench(environment)
      let bought = try bench.control("buy", "{\"productId\":\"com.example.scribe.tokens\"}")
      let order = try #require(bought.objects("transactions").first?["orderId"] as? String)
      let found = try bench.get("v1/lookup/\(order)")
      #expect(found.json["status"] as? Int == status)
      #expect(found.texts("signedTransactions").count == 1 - status)
      #expect(try bench.get("v1/lookup/MNONE").json["status"] as? Int == 1)
      #expect(try bench.get("v1/lookup/M-1").errorCode == 4_000_000)
      await bench.stop()
    }
  }

  @Test func `finishing, tokens, and consumption information`() async throws {
    let bench = try await StoreBench()
    let id = try bench.buy(SimulatedApp.tokens, by: "one")
    let subscription = try bench.buy(SimulatedApp.proMonthly, by: "one")
    #expect(try bench.get("v1/history/\(id)").texts("signedTransactions").count == 2)
    let finished = try bench.post("v1/transactions/\(id)/finish")
    #expect(finished.status == 200 && finished.body.isEmpty)
    #expect(try bench.get("v1/history/\(id)").texts("signedTransactions").count == 1)
    #expect(try bench.get("v2/history/\(id)").texts("signedTransactions").count == 2)

    let token = "7E3FB20B-4CDB-47CC-936D-99D65F608138"
    let set = try bench.put(
      "v1/transactions/\(subscription)/appAccountToken", "{\"appAccountToken\":\"\(token)\"}")
    #expect(set.status == 200 && set.body.isEmpty)
    try bench.advance(days: 32)
    for jws in try bench.get("v2/history/\(id)?productType=AUTO_RENEWABLE").texts(
      "signedTransactions")
    {
      #expect(try StoreBench.payload(jws)["appAccountToken"] as? String == token.lowercased())
    }
    // It is of the chain, not of the customer.
    let later = try bench.buy(SimulatedApp.tokens, by: "one")
    let info = try bench.get("v1/transactions/\(later)").text("signedTransactionInfo")
    #expect(try StoreBench.payload(info)["appAccountToken"] == nil)

    let sent = try bench.put(
      "v2/transactions/consumption/\(id)",
      """
      {"customerConsented":true,"sampleContentProvided":false,"deliveryStatus":"DELIVERED",
       "consumptionPercentage":50000,"refundPreference":"GRANT_PRORATED"}
      """)
    #expect(sent.status == 202 && sent.body.isEmpty)
    let received = try bench.send("GET", "/control/consumption").objects("consumption")
    #expect(received.first?["transactionId"] as? String == id)
    await bench.stop()
  }

  @Test func `extensions of one subscription, and of all`() async throws {
    let bench = try await StoreBench()
    let id = try bench.buy(SimulatedApp.proMonthly, by: "one")
    let request = "{\"extendByDays\":10,\"extendReasonCode\":1,\"requestIdentifier\":\"r1\"}"
    let extended = try bench.put("v1/subscriptions/extend/\(id)", request)
    #expect(extended.json["success"] as? Bool == true)
    #expect(extended.text("originalTransactionId") == id)
    #expect(extended.text("webOrderLineItemId") != nil)
    let info = try bench.get("v1/transactions/\(id)")
    let payload = try StoreBench.payload(info.text("signedTransactionInfo"))
    #expect(payload["expiresDate"] as? Int == extended.json["effectiveDate"] as? Int)

    let mass =
      "{\"extendByDays\":5,\"extendReasonCode\":0,\"requestIdentifier\":\"m1\","
      + "\"productId\":\"com.example.scribe.pro.monthly\"}"
    let status = "v1/subscriptions/extend/mass/com.example.scribe.pro.monthly/m1"
    #expect(try bench.get(status).errorCode == 4_040_009)
    for _ in 0..<2 {
      let answer = try bench.post("v1/subscriptions/extend/mass", mass)
      #expect(answer.status == 200 && answer.text("requestIdentifier") == "m1")
    }
    #expect(try bench.get(status).json["complete"] as? Bool == false)
    try bench.advance(days: 1)
    let done = try bench.get(status)
    #expect(done.json["complete"] as? Bool == true)
    #expect(done.json["succeededCount"] as? Int == 1 && done.json["failedCount"] as? Int == 0)
    #expect(try bench.put("v1/subscriptions/extend/\(id)", request).errorCode == 4_030_005)
    await bench.stop()
  }

  /// A request, and the code of its error. In the path and the body `ID` is a subscription, `ONCE` a
  /// consumable, `RENEWED` a later transaction, `FAMILY` that of a member, `APP` an app transaction,
  /// `OLD` a transaction of a customer without app transaction.
  static let errors: [(Int, String, String, String)] = {
    let extend = "{\"extendByDays\":10,\"extendReasonCode\":1,\"requestIdentifier\":\"r\"}"
    let mass = "v1/subscriptions/extend/mass"
    func massBody(_ more: String, product: String = "com.example.scribe.pro.monthly") -> String {
      "{\"extendByDays\":5,\"extendReasonCode\":0,\"requestIdentifier\":\"m\","
        + "\"productId\":\"\(product)\"\(more)}"
    }
    let token = "{\"appAccountToken\":\"7e3fb20b-4cdb-47cc-936d-99d65f608138\"}"
    func consumption(_ more: String) -> String {
      "{\"customerConsented\":true,\"sampleContentProvided\":false,\"deliveryStatus\":\"DELIVERED\""
        + "\(more)}"
    }
    let consume = "v2/transactions/consumption/ONCE"
    let history = "v1/notifications/history"
    return [
      (4_000_006, "GET", "v1/transactions/x1", ""),
      (4_000_048, "GET", "v1/transactions/APP", ""),
      (4_040_010, "GET", "v1/transactions/999", ""),
      (4_000_006, "GET", "v2/history/x", ""), (4_040_010, "GET", "v2/history/999", ""),
      (4_000_005, "GET", "v2/history/ID?revision=abc", ""),
      (4_000_015, "GET", "v2/history/ID?startDate=x", ""),
      (4_000_016, "GET", "v2/history/ID?endDate=-1", ""),
      (4_000_021, "GET", "v2/history/ID?sort=UP", ""),
      (4_000_022, "GET", "v2/history/ID?productType=Consumable", ""),
      (4_000_023, "GET", "v2/history/ID?productId=", ""),
      (4_000_024, "GET", "v2/history/ID?subscriptionGroupIdentifier=x", ""),
      (4_000_025, "GET", "v2/history/ID?excludeRevoked=1", ""),
      (4_000_026, "GET", "v2/history/ID?inAppOwnershipType=MINE", ""),
      (4_000_030, "GET", "v2/history/ID?revoked=yes", ""),
      (4_000_031, "GET", "v1/subscriptions/ID?status=6", ""),
      (4_000_006, "GET", "v1/subscriptions/x", ""), (4_040_010, "GET", "v1/subscriptions/999", ""),
      (4_000_005, "GET", "v2/refund/lookup/ID?revision=abc", ""),
      (4_000_006, "GET", "v2/refund/lookup/x", ""), (4_040_010, "GET", "v2/refund/lookup/9", ""),
      (4_000_000, "GET", "v1/lookup/M_1", ""),
      (4_000_006, "GET", "v1/transactions/appTransactions/x", ""),
      (4_040_010, "GET", "v1/transactions/appTransactions/999", ""),
      (4_040_019, "GET", "v1/transactions/appTransactions/OLD", ""),
      (4_000_006, "POST", "v1/transactions/x/finish", ""),
      (4_000_048, "POST", "v1/transactions/APP/finish", ""),
      (4_040_010, "POST", "v1/transactions/999/finish", ""),
      (4_000_006, "PUT", "v1/transactions/x/appAccountToken", token),
      (4_000_048, "PUT", "v1/transactions/APP/appAccountToken", token),
      (4_000_183, "PUT", "v1/transactions/ID/appAccountToken", "{\"appAccountToken\":\"x\"}"),
      (4_000_185, "PUT", "v1/transactions/FAMILY/appAccountToken", token),
      (4_000_187, "PUT", "v1/transactions/RENEWED/appAccountToken", token),
      (4_040_005, "PUT", "v1/transactions/999/appAccountToken", token),
      (4_000_000, "PUT", "v1/transactions/ID/appAccountToken", "{"),
      (4_000_006, "PUT", "v2/transactions/consumption/x", consumption("")),
      (4_000_048, "PUT", "v2/transactions/consumption/APP", consumption("")),
      (4_040_010, "PUT", "v2/transactions/consumption/999", consumption("")),
      (4_000_185, "PUT", "v2/transactions/consumption/FAMILY", consumption("")),
      (4_000_035, "PUT", consume, "{\"customerConsented\":false}"),
      (4_000_041, "PUT", consume, "{\"customerConsented\":true}"),
      (4_000_036, "PUT", consume, "{\"customerConsented\":true,\"sampleContentProvided\":true}"),
      (4_000_044, "PUT", consume, consumption(",\"refundPreference\":\"NO\"")),
      (4_000_000, "PUT", consume, consumption(",\"consumptionPercentage\":100001")),
      (
        4_000_209, "PUT", "v2/transactions/consumption/ID",
        consumption(",\"consumptionPercentage\":1")
      ),
      (4_000_035, "PUT", "v1/transactions/consumption/ONCE", "{}"),
      (
        4_000_033, "PUT", "v1/transactions/consumption/ONCE",
        "{\"customerConsented\":true,\"sampleContentProvided\":true,\"appAccountToken\":\"x\"}"
      ),
      (
        4_000_032, "PUT", "v1/transactions/consumption/ONCE",
        "{\"customerConsented\":true,\"sampleContentProvided\":true,\"appAccountToken\":\"\"}"
      ),
      (4_000_047, "PUT", "v1/transactions/consumption/LASTING", "{}"),
      (4_000_008, "PUT", "v1/subscriptions/extend/x", extend),
      (
        4_000_009, "PUT", "v1/subscriptions/extend/ID",
        extend.replacingOccurrences(of: "10", with: "91")
      ),
      (
        4_000_010, "PUT", "v1/subscriptions/extend/ID",
        extend.replacingOccurrences(of: ":1,", with: ":4,")
      ),
      (
        4_000_011, "PUT", "v1/subscriptions/extend/ID",
        extend.replacingOccurrences(of: "\"r\"", with: "\"\"")
      ),
      (4_030_004, "PUT", "v1/subscriptions/extend/ENDED", extend),
      (4_030_007, "PUT", "v1/subscriptions/extend/FAMILY", extend),
      (4_040_005, "PUT", "v1/subscriptions/extend/999", extend),
      (4_000_009, "POST", mass, "{}"), (4_000_023, "POST", mass, massBody("", product: "none")),
      (4_000_027, "POST", mass, massBody(",\"storefrontCountryCodes\":[]")),
      (4_000_028, "POST", mass, massBody(",\"storefrontCountryCodes\":[\"de\"]")),
      (4_000_023, "GET", "\(mass)/none/m", ""),
      (4_040_009, "GET", "\(mass)/com.example.scribe.pro.monthly/none", ""),
      (4_040_007, "POST", "v1/notifications/test", ""),
      (4_000_020, "GET", "v1/notifications/test/x", ""),
      (
        4_040_008, "GET",
        "v1/notifications/test/7e3fb20b-4cdb-47cc-936d-99d65f608138_1795000000000", ""
      ),
      (4_000_000, "POST", history, "[]"), (4_000_015, "POST", history, "{}"),
      (4_000_016, "POST", history, "{\"startDate\":1}"),
      (4_000_012, "POST", history, "{\"startDate\":1,\"endDate\":2}"),
      (4_000_013, "POST", history, "{\"startDate\":NOW,\"endDate\":NOW}"),
      (4_000_014, "POST", history + "?paginationToken=x", "{\"startDate\":NOW,\"endDate\":LATER}"),
      (
        4_000_018, "POST", history,
        "{\"startDate\":NOW,\"endDate\":LATER,\"notificationType\":\"X\"}"
      ),
      (
        4_000_019, "POST", history,
        "{\"startDate\":NOW,\"endDate\":LATER,\"notificationType\":\"TEST\",\"transactionId\":\"1\"}"
      ),
      (
        4_000_006, "POST", history, "{\"startDate\":NOW,\"endDate\":LATER,\"transactionId\":\"\"}"
      ),
      (
        4_040_010, "POST", history, "{\"startDate\":NOW,\"endDate\":LATER,\"transactionId\":\"9\"}"
      ),
    ]
  }()

  @Test func `every documented error that can be had`() async throws {
    let bench = try await StoreBench(population: 1)
    let old = try bench.send("GET", "/control/customers/customer-001").objects("transactions")
    let id = try bench.buy(SimulatedApp.proMonthly, by: "one")
    let ended = try bench.buy(SimulatedApp.proMonthly, by: "two")
    _ = try bench.control("cancel", "{\"customer\":\"two\"}")
    let shared = try bench.control("share", "{\"customer\":\"one\",\"with\":\"three\"}")
    try bench.advance(days: 32)
    let history = try bench.get("v2/history/\(id)").texts("signedTransactions")
    let application = try bench.get("v1/transactions/appTransactions/\(id)")
    let app = try StoreBench.payload(application.text("signedAppTransactionInfo"))
    let now = StoreBench.start.rawValue + 32 * Milliseconds.dayLength
    var places = [
      ("ONCE", try bench.buy(SimulatedApp.tokens, by: "one")),
      ("LASTING", try bench.buy(SimulatedApp.adFree, by: "one")), ("ENDED", ended),
      ("RENEWED", try StoreBench.payload(history.last)["transactionId"] as? String ?? ""),
      ("APP", app["appTransactionId"] as? String ?? ""), ("NOW", "\(now)"),
      ("LATER", "\(now + 1_000)"),
    ]
    // In this order, as one name is a part of another.
    places.append(
      ("FAMILY", shared.objects("transactions").first?["transactionId"] as? String ?? ""))
    places.append(("OLD", old.first?["transactionId"] as? String ?? ""))
    places.append(("/ID", "/\(id)"))
    for (code, method, path, body) in Self.errors {
      func filled(_ text: String) -> String {
        places.reduce(text) { $0.replacingOccurrences(of: $1.0, with: $1.1) }
      }
      let answer = try bench.send(
        method, "/inApps/\(filled(path))", body.isEmpty ? nil : filled(body))
      let text = String(decoding: answer.body, as: UTF8.self)
      #expect(answer.errorCode == code, "\(method) \(path) \(body): \(answer.status) \(text)")
      #expect(answer.status == code / 10_000 && answer.type == "application/json", "\(path)")
      #expect(answer.text("errorMessage") != nil)
    }
    await bench.stop()
  }

  @Test func `the other environment knows no transaction`() async throws {
    let bench = try await StoreBench(.sandbox)
    let id = try bench.buy(SimulatedApp.proMonthly, by: "one")
    #expect(try bench.send("GET", "/sandbox/inApps/v1/transactions/\(id)").status == 200)
    #expect(
      try bench.send("GET", "/production/inApps/v1/transactions/\(id)").errorCode == 4_040_010)
    #expect(try bench.send("GET", "/xcode/inApps/v1/transactions/\(id)").status == 404)
    // Its list of notifications is empty, and reaches back as far as that environment's.
    let now = StoreBench.start.rawValue
    let span = "{\"startDate\":\(now - 100 * Milliseconds.dayLength),\"endDate\":\(now)}"
    let history = "inApps/v1/notifications/history"
    #expect(try bench.send("POST", "/sandbox/\(history)", span).errorCode == 4_000_012)
    #expect(
      try bench.send("POST", "/production/\(history)", span)
        .objects("notificationHistory").isEmpty)
    #expect(try bench.get("v9/nothing").status == 404)
    await bench.stop()
  }

  @Test func `a plus is a space in the query alone`() {
    let request = StoreRequest(method: "GET", target: "/a+b/c%2Bd?e+f=g+h%2B")
    #expect(request.path == ["a+b", "c+d"])
    #expect(request.query.map(\.name) == ["e f"] && request.query.map(\.value) == ["g h+"])
  }

  @Test func `forms are no JSON, and long bodies are refused`() async throws {
    let bench = try await StoreBench()
    let form = try bench.send(
      "POST", "/inApps/v1/notifications/history", "a=b", type: "application/x-www-form-urlencoded")
    #expect(form.status == 415)
    for type in ["Application/JSON", " application/json ; charset=utf-8"] {
      let json = try bench.send("POST", "/inApps/v1/notifications/history", "{}", type: type)
      #expect(json.errorCode == 4_000_015, "\(type)")
    }
    let long = String(repeating: " ", count: 70_000)
    #expect(try bench.post("v1/notifications/history", long).status == 413)
    await bench.stop()
  }
}
