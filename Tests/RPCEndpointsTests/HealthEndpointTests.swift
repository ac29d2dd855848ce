import RPCClient
import RPCEndpoints
import ServiceSupport
import Testing
import Wire

@Suite("The rule of the health status")
struct HealthRuleTests {
  @Test(
    "Two probes in a row change the status; damaged data does at once",
    arguments: [
      // a: answered, f: failed, d: damaged. Then the status after each probe, and whether the next
      // probe follows at once.
      ("aaa", "+++", "---"), ("afa", "+++", "-!-"), ("afafa", "+++++", "-!-!-"),
      ("aff", "++-", "-!-"), ("affa", "++--", "-!-!"), ("affaa", "++--+", "-!-!-"),
      ("affafaa", "++----+", "-!-!-!-"), ("ad", "+-", "--"), ("adaa", "+--+", "--!-"),
    ])
  func rule(probes: String, statuses: String, haste: String) {
    var rule = HealthRule(isServing: true)
    var seen = (statuses: "", haste: "")
    for probe in probes {
      let mustConfirm = rule.observed(probe == "a" ? .answered : probe == "f" ? .failed : .damaged)
      seen.statuses += rule.isServing ? "+" : "-"
      seen.haste += mustConfirm ? "!" : "-"
    }
    #expect(seen == (statuses, haste))
  }
}

@Suite("Health on the wire")
struct HealthEndpointTests {
  private func answer(_ status: HealthCheckResponse.ServingStatus) -> HealthCheckResponse {
    HealthCheckResponse(status: status, version: ServiceBench.version)
  }

  @Test("Check returns the status and the version, for the server and for each service")
  func check() async throws {
    try await ServiceBench.run { bench async throws in
      let names = [
        "", ServiceNames.health, ServiceNames.entitlements, ServiceNames.submissions,
        ServiceNames.admin, ServiceNames.audit,
      ]
      for name in names {
        #expect(try await bench.client.health(of: name) == answer(.notServing))
      }
      bench.health.set(isServing: true)
      for name in names { #expect(try await bench.client.health(of: name) == answer(.serving)) }
      let error = await #expect(throws: RPCClientError.self) {
        try await bench.client.health(of: "com.example.Unheard")
      }
      #expect(error?.code == .status(.notFound))
    }
  }

  @Test("Watch sends the status and the version immediately, and at each change of the status")
  func watch() async throws {
    try await ServiceBench.run { bench async throws in
      var answers = try bench.client.watchHealth().makeAsyncIterator()
      #expect(try await answers.next() == answer(.notServing))
      bench.health.set(isServing: true)
      #expect(try await answers.next() == answer(.serving))
      // An unchanged status is not sent again.
      bench.health.set(isServing: true)
      bench.health.set(isServing: false)
      #expect(try await answers.next() == answer(.notServing))
    }
  }

  @Test("Watch sends SERVICE_UNKNOWN for an unknown service, and stays open")
  func watchUnknown() async throws {
    try await ServiceBench.run { bench async throws in
      var answers = try bench.client.watchHealth(of: "com.example.Unheard").makeAsyncIterator()
      #expect(try await answers.next() == answer(.serviceUnknown))
    }
  }
}
