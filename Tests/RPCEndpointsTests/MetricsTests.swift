import AccessControl
import EntitlementService
import MetricsExposition
import RPCClient
import ServiceMetrics
import ServiceSupport
import StoreSimulator
import TestSupport
import Testing
import Wire

@Suite("The metrics of a running service")
struct MetricsTests {
  /// The page that monitoring reads after some calls, and the values that it was made from.
  private func pages(
    _ body: (_ page: (String?) -> Exposition.Page, _ values: [StatisticValue]) throws -> Void
  ) async throws {
    let reader = BenchAccess.Member(
      name: "reader.eu", fields: "roles: [reader]", expires: "\"2030-01-01T00:00:00Z\"")
    let access = try BenchAccess([reader])
    try await ServiceBench.run(access: access) { bench async throws in
      let account = try await bench.submit(.nonConsumable)
      for _ in 0..<3 { _ = try await bench.state(of: .account(account)) }
      // A call that its caller may not make.
      let other = try await EntitlementClient.connect(
        to: bench.addresses[0],
        configuration: EntitlementClientConfiguration(metadata: reader.metadata, retries: .off))
      await #expect(throws: RPCClientError.self) { try await other.statistics() }
      await other.close()
      let values = try await bench.client.statistics().counters.map {
        StatisticValue($0.name, $0.value)
      }
      let server = bench.server
      let metrics = ServiceMetrics(
        server: { server },
        libraries: LibraryMetrics(timerBounds: CallMetrics.boundsInSeconds),
        version: ServiceBench.version, store: "sqlite")
      try body({ metrics.page(of: values, accept: $0) }, values)
    }
  }

  @Test("Every value of GetStatistics has its metric, and calls are counted by method")
  func everyValue() async throws {
    try await pages { page, values in
      #expect(StatisticMapping().families(of: values).unknown == [])
      let text = String(decoding: page(nil).body, as: UTF8.self)
      let lines = Set(text.split(separator: "\n"))
      let call =
        #"rpc_system_name="ttrpc",rpc_method="entitle.v1.EntitlementService/GetCustomerState""#
      for line in [
        #"rpc_server_calls_total{\#(call),rpc_response_status_code="OK"} 3"#,
        #"rpc_server_call_duration_seconds_bucket{\#(call),le="+Inf"} 3"#,
        #"rpc_server_call_duration_seconds_count{\#(call)} 3"#,
        #"entitle_build_info{version="7.8.9-bench",store="sqlite"} 1"#,
        #"entitle_caller_refusals_total{reason="permission_missing",caller="reader.eu"} 1"#,
        #"entitle_credential_expiry_timestamp_seconds{caller="reader.eu"} 1893456000"#,
        "entitle_access_callers 2", "entitle_catalog_last_reload_success 1",
        "entitle_cache_size_limit_bytes 1048576", "entitle_verification_workers 2",
        "entitle_library_series_refused_total 0",
      ] {
        #expect(lines.contains(Substring(line)), "\(line)")
      }
      // Accounts are in no label.
      #expect(!text.contains(LifeCycle.nonConsumable.rawValue))
    }
  }

  @Test("Every metric of the service is in the table, with its type and its labels")
  func table() async throws {
    try await pages { page, _ in
      let text = String(decoding: page("application/openmetrics-text").body, as: UTF8.self)
      let types = text.split(separator: "\n").filter { $0.hasPrefix("# TYPE ") }
      let known = Set(MetricTable.all.map { "# TYPE \($0.name) \($0.kind.rawValue)" })
      for type in types { #expect(known.contains(String(type)), "\(type)") }
      #expect(types.count > 80)
    }
  }

  @Test(
    "Python's prometheus_client reads the page in both forms",
    .enabled(
      if: PrometheusTools.hasParser,
      "python3-prometheus-client is not installed: the page is not read by Python's parser"))
  func python() async throws {
    try await pages { page, _ in
      for (form, accept) in [("prometheus", nil), ("openmetrics", "application/openmetrics-text")] {
        let outcome = try PrometheusTools.parse(page(accept).body, as: form)
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.output.split(separator: "\n").count > 200)
      }
    }
  }

  @Test(
    "promtool finds nothing to complain of in the page",
    .enabled(
      if: PrometheusTools.hasPromtool,
      "promtool (Debian package prometheus) is not installed: the page is not read by it"))
  func promtool() async throws {
    try await pages { page, _ in
      let outcome = try PrometheusTools.runPromtool(["check", "metrics"], input: page(nil).body)
      #expect(outcome.status == 0, "\(outcome.errors)")
      #expect(outcome.errors == "")
    }
  }
}
