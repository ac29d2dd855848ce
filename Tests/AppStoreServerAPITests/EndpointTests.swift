import AppStoreServerAPI
import EntitlementDomain
import NIOCore
import NIOHTTP1
import Testing

@Suite("Requests of all endpoints, and their answers", .timeLimit(.minutes(2)))
struct EndpointTests {
  @Test("Method, path, query, header fields and body are Apple's", arguments: EndpointCase.all)
  func request(_ endpoint: EndpointCase) async throws {
    try await Bench.run([endpoint.answer]) { bench in
      let values = try await endpoint.call(bench.client, bench.deadline)
      #expect(values == endpoint.values)
      let request = try #require(bench.server.requests.first)
      #expect(bench.server.requests.count == 1)
      #expect(request.method == endpoint.method)
      #expect(request.target == "/inApps/" + endpoint.target)
      #expect(request.body == endpoint.body)
      #expect(
        request.headers["content-type"] == (endpoint.body.isEmpty ? [] : ["application/json"]))
      #expect(request.headers["accept"] == ["application/json"])
      #expect(request.headers["user-agent"] == ["entitle"])
      #expect(DecodedToken(request.token)?.header["kid"] == Bench.keyID)
      let length = request.headers.first(name: "content-length").flatMap { Int($0) } ?? 0
      #expect(length == endpoint.body.utf8.count)
      #expect(bench.client.statistics.calls.map(\.key.outcome) == ["ok"])
    }
  }

  @Test("The table has every endpoint")
  func completeness() async throws {
    let called = try await withThrowingTaskGroup(of: AppStoreServerEndpoint?.self) { group in
      for endpoint in EndpointCase.all {
        group.addTask {
          try await Bench.run([endpoint.answer]) { bench in
            _ = try await endpoint.call(bench.client, bench.deadline)
            return bench.client.statistics.calls.first?.key.endpoint
          }
        }
      }
      return try await group.reduce(into: Set<AppStoreServerEndpoint>()) { found, endpoint in
        if let endpoint { found.insert(endpoint) }
      }
    }
    #expect(called == Set(AppStoreServerEndpoint.allCases))
  }

  @Test("A path prefix stands before Apple's path, and Sandbox has its own address")
  func addresses() async throws {
    try await Bench.run(server: StubServer([.transaction]), prefix: "/apple//") { bench in
      _ = try await bench.transaction("20")
      _ = try await bench.transaction("20", in: Bench.sandbox)
      #expect(
        bench.server.requests.map(\.target) == [
          "/apple/inApps/v1/transactions/20", "/sandbox/inApps/v1/transactions/20",
        ])
    }
  }

  @Test(
    "What cannot stand in a path is refused before anything is sent",
    arguments: [
      "", ".", "..", "1/2", "/", "1 2", "1\n", "\u{0}", String(repeating: "1", count: 257),
    ])
  func pathValues(id: String) async throws {
    try await Bench.run([.transaction]) { bench in
      let error = await #expect(throws: AppStoreServerError.self) {
        _ = try await bench.transaction(TransactionID(id))
      }
      #expect(error?.code == .invalidRequest)
      #expect(error?.message == "transactionId is empty, too long, or no id")
      #expect(bench.server.requests.isEmpty)
    }
  }

  @Test("Bodies that Apple would refuse are refused before anything is sent")
  func bodies() async throws {
    try await Bench.run([.transaction]) { bench in
      func isRefused(_ call: () async throws -> Void) async {
        let error = await #expect(throws: AppStoreServerError.self) { try await call() }
        #expect(error?.code == .invalidRequest)
      }
      var consumption = ConsumptionInformation(
        customerConsented: true, sampleContentProvided: false, deliveryStatus: .delivered)
      let wrong: [(inout ConsumptionInformation) -> Void] = [
        { $0.customerConsented = false }, { $0.consumptionPercentage = 100_001 },
        { $0.consumptionPercentage = -1 },
        {
          $0.consumptionPercentage = 1; $0.deliveryStatus = .wrongItem
        },
        {
          $0.consumptionPercentage = 0; $0.refundPreference = .grantProrated
        },
        {
          $0.consumptionPercentage = 100_000; $0.refundPreference = .grantProrated
        },
      ]
      let good = consumption
      for change in wrong {
        consumption = good
        change(&consumption)
        await isRefused {
          try await bench.client.sendConsumption(
            consumption, of: "1", in: Bench.app, deadline: bench.deadline)
        }
      }
      for change: (inout LegacyConsumptionInformation) -> Void in [
        { $0.customerConsented = false }, { $0.platform = 3 }, { $0.refundPreference = 4 },
        { $0.accountTenure = -1 },
      ] {
        var legacy = LegacyConsumptionInformation(
          customerConsented: true, sampleContentProvided: false, deliveryStatus: 0)
        change(&legacy)
        await isRefused {
          try await bench.client.sendConsumption(
            legacy, of: "1", in: Bench.app, deadline: bench.deadline)
        }
      }
      for (days, identifier) in [
        (0, "r"), (91, "r"), (1, ""), (1, String(repeating: "r", count: 129)),
      ] as [(Int64, String)] {
        await isRefused {
          _ = try await bench.client.extendRenewal(
            of: "1", by: .init(days: days, reason: .other, requestIdentifier: identifier),
            in: Bench.app, deadline: bench.deadline)
        }
      }
      // The status of a mass extension has both in its path.
      for (product, identifier) in [
        ("p", "a b"), ("p", "a/b"), ("p", ".."), ("p", "a\n"), ("", "r"), ("a/b", "r"),
        (".", "r"), (String(repeating: "p", count: 257), "r"),
      ] {
        await isRefused {
          let mass = MassRenewalExtension(
            .init(days: 1, reason: .other, requestIdentifier: identifier),
            of: ProductID(product))
          _ = try await bench.client.extendRenewals(
            mass, in: Bench.app, deadline: bench.deadline)
        }
      }
      var query = HistoryQuery()
      query.productIDs = (0..<1_000).map { ProductID("com.example.scribe.\($0)") }
      await isRefused {
        _ = try await bench.client.history(
          of: TransactionID("1"), in: Bench.app, matching: query, deadline: bench.deadline)
      }
      #expect(bench.server.requests.isEmpty)
    }
  }
}
