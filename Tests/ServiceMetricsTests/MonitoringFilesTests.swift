import Foundation
import MetricsExposition
import ServiceMetrics
import TestSupport
import Testing
import Yams

@Suite("The dashboard and the alerts")
struct MonitoringFilesTests {
  private struct Alert {
    let name: String
    let expression: String
    let annotations: [String: String]
    let severity: String?
  }

  private static let alertsPath = PrometheusTools.path("deploy/prometheus/alerts.yaml")

  private func text(_ name: String) throws -> String {
    try String(contentsOfFile: PrometheusTools.path(name), encoding: .utf8)
  }

  private func alerts() throws -> [Alert] {
    let document = try #require(
      Yams.load(yaml: text("deploy/prometheus/alerts.yaml")) as? [String: [[String: Any]]])
    let rules = (document["groups"] ?? []).flatMap { $0["rules"] as? [[String: Any]] ?? [] }
    return try rules.map { rule in
      Alert(
        name: try #require(rule["alert"] as? String),
        expression: try #require(rule["expr"] as? String),
        annotations: rule["annotations"] as? [String: String] ?? [:],
        severity: (rule["labels"] as? [String: String])?["severity"])
    }
  }

  private func panels() throws -> [[String: Any]] {
    let document = try JSONSerialization.jsonObject(
      with: Data(text("deploy/grafana/entitle.json").utf8))
    return try #require((document as? [String: Any])?["panels"] as? [[String: Any]])
  }

  /// The names under which queries find the metrics of the table.
  private let names = Set(
    MetricTable.all.flatMap { definition in
      definition.kind == .histogram
        ? ["_bucket", "_sum", "_count"].map { definition.name + $0 } : [definition.queryName]
    })

  /// The metrics that a query names.
  private func metrics(in query: String) -> [String] {
    query.matches(of: /(?:entitle|rpc_server|process)_[a-z0-9_]+/).map { String($0.output) }
  }

  @Test("Every metric that an alert names is in the table")
  func alertMetrics() throws {
    let alerts = try alerts()
    #expect(alerts.count > 20)
    for alert in alerts {
      let used = metrics(in: alert.expression)
      #expect(!used.isEmpty || alert.expression.hasPrefix("up{"), "\(alert.name)")
      for name in used { #expect(names.contains(name), "\(alert.name): \(name)") }
    }
  }

  @Test("Every alert says what happened, and names its section of operations.md")
  func alertSections() throws {
    let alerts = try alerts()
    let documentation = try text("deploy/docs/operations.md")
    let sections = documentation.matches(of: /\n### (Entitle[A-Za-z]+)\n/).map {
      String($0.output.1)
    }
    #expect(alerts.map(\.name) == sections)
    for alert in alerts {
      #expect(
        alert.annotations["runbook"]
          == "deploy/docs/operations.md#\(alert.name.lowercased())")
      #expect(alert.annotations["summary"]?.isEmpty == false, "\(alert.name)")
      #expect(["critical", "warning", "info"].contains(alert.severity ?? ""), "\(alert.name)")
    }
  }

  @Test("Every metric that the dashboard names is in the table, and every panel has a query")
  func dashboard() throws {
    let panels = try panels()
    let rows = panels.filter { $0["type"] as? String == "row" }.compactMap {
      $0["title"] as? String
    }
    #expect(
      rows == [
        "Overview", "Traffic", "Errors", "Latency", "Saturation", "Store", "Verification",
        "App Store Server API", "Follower and watches", "Expiry and configuration",
      ])
    #expect(Set(panels.compactMap { $0["id"] as? Int }).count == panels.count)
    for panel in panels where panel["type"] as? String != "row" {
      let title = panel["title"] as? String ?? ""
      let targets = panel["targets"] as? [[String: Any]] ?? []
      #expect(!targets.isEmpty, "\(title)")
      for target in targets {
        let used = metrics(in: try #require(target["expr"] as? String))
        #expect(!used.isEmpty, "\(title)")
        for name in used { #expect(names.contains(name), "\(title): \(name)") }
      }
    }
  }

  @Test(
    "promtool accepts the alerts, and they fire when they should",
    .enabled(
      if: PrometheusTools.hasPromtool,
      "promtool (Debian package prometheus) is not installed: the alerts are not tried"))
  func promtool() throws {
    let check = try PrometheusTools.runPromtool(["check", "rules", Self.alertsPath])
    #expect(check.status == 0, "\(check.output) \(check.errors)")
    let test = try PrometheusTools.runPromtool([
      "test", "rules", PrometheusTools.path("Tests/PrometheusOracle/alerts_test.yaml"),
    ])
    #expect(test.status == 0, "\(test.output) \(test.errors)")
  }

  @Test(
    "promtool reads every query of the dashboard",
    .enabled(
      if: PrometheusTools.hasPromtool,
      "promtool (Debian package prometheus) is not installed: the queries are not read by it"))
  func queries() throws {
    let expressions = try panels().flatMap { $0["targets"] as? [[String: Any]] ?? [] }
      .compactMap { $0["expr"] as? String }
      // Grafana's variables.
      .map { $0.replacing("$__rate_interval", with: "5m").replacing("$instance", with: ".*") }
    var rules = "groups:\n  - name: dashboard\n    rules:\n"
    for (index, expression) in expressions.enumerated() {
      rules += "      - record: panel:\(index)\n        expr: '\(expression)'\n"
    }
    let folder = try TemporaryFolder()
    let file = folder.file("dashboard.yaml")
    try rules.write(toFile: file, atomically: true, encoding: .utf8)
    let check = try PrometheusTools.runPromtool(["check", "rules", file])
    #expect(check.status == 0, "\(check.output) \(check.errors)")
  }
}
