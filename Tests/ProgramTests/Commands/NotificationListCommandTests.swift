import EntitlementDomain
import Foundation
import StoreSimulator
import TestSupport
import Testing

@Suite("entitlectl notification list", .timeLimit(.minutes(5)))
struct NotificationListCommandTests {
  private let bench: Bench

  init() throws {
    bench = try Bench()
  }

  private func list(
    _ server: RunningServer, _ arguments: String..., output: String = "jsonl"
  ) async throws -> ProgramRun {
    try await ProgramRun.of(
      .entitlectl,
      ["notification", "list", "--server", "\(server.address)", "--output", output] + arguments)
  }

  private func ids(_ run: ProgramRun) throws -> [String] {
    try #require(run.exit == .code(0), "\(run.errors)")
    return try run.lines(JSONTree.self).compactMap {
      ($0["notificationUuid"]?.text?.suffix(4)).map(String.init)
    }
  }

  /// TEST notifications with UUIDs that end with these numbers, signed by the simulator's App Store.
  private func tests(
    _ numbers: Range<Int>, environment: StoreEnvironment = .production
  ) throws -> [String] {
    try numbers.map { number in
      let notification = StoreNotification(
        type: "TEST", subtype: nil,
        uuid: NotificationUUID("0190a000-0000-4000-8000-0000000\(10_000 + number)"),
        signedDate: Bench.population(0).now, environment: environment,
        appAppleID: environment == .production ? SimulatedApp.appAppleID : nil,
        bundleID: SimulatedApp.bundleID, status: nil)
      return try bench.authority.sign(
        payloadJSON: notification.json(signedTransaction: nil, signedRenewalInfo: nil))
    }
  }

  private func submit(_ notifications: [String], to server: RunningServer, _ more: [String] = [])
    async throws
  {
    let run = try await ProgramRun.of(
      .entitlectl,
      ["notification", "submit", "-", "--account", "a", "--server", "\(server.address)"] + more,
      input: notifications.joined(separator: "\n"))
    try #require(run.exit == .code(0), "\(run.errors)")
  }

  @Test func `a TEST notification that arrived is listed before older ones`() async throws {
    let server = try await bench.startServer()
    let purchase = try #require(
      try bench.signed(.firstPurchase).compactMap(\.notification).first)
    let test = try tests(1..<2)
    try await submit([purchase] + test, to: server)
    let run = try await list(server)
    #expect(run.errors == "")
    let entries = try run.lines(JSONTree.self)
    #expect(entries.map { $0["notificationType"]?.text } == ["TEST", "SUBSCRIBED"])
    #expect(entries[0]["bundleId"]?.text == "com.example.scribe")
    #expect(entries[0]["environment"]?.text == "STORE_ENVIRONMENT_PRODUCTION")
    #expect(entries[0]["originalTransactionId"] == nil)
    #expect(entries[1]["originalTransactionId"] != nil)
    #expect(entries[1]["status"]?.text == "1")
    #expect(entries.allSatisfy { $0["receivedAtMs"] != nil && $0["signedDateMs"] != nil })

    #expect(try ids(await list(server, "--type", "TEST")) == ["0001"])
    #expect(try ids(await list(server, "--type", "test")) == [])
    #expect(try ids(await list(server, "--environment", "sandbox")) == [])
    #expect(try ids(await list(server, "--bundle-id", "com.example.scribe")).count == 2)
    #expect(try ids(await list(server, "--since", "2000-01-01T00:00:00Z")).count == 2)
    #expect(try ids(await list(server, "--since", "2100-01-01T00:00:00Z")) == [])
    let table = try await list(server, output: "table")
    #expect(table.output.hasPrefix("RECEIVED"))
    #expect(table.output.contains("TEST"))
    #expect(table.output.split(separator: "\n").count == 3)
    #expect(try await list(server, "--limit", "0").exit == .code(64))
    #expect(try await server.stop() == .code(0))
  }

  @Test func `the list goes on over pages of 1,000 until it has enough`() async throws {
    let server = try await bench.startServer()
    let old = try tests(0..<2, environment: .sandbox)
    let new = try tests(2..<1_105)
    try await submit(old + new, to: server)
    let all = try ids(await list(server, "--all"))
    let expected = (0..<1_105).reversed().map { number in String("\(10_000 + number)".suffix(4)) }
    #expect(all == expected)
    #expect(try ids(await list(server)) == Array(all.prefix(100)))
    for limit in [1, 1_000, 1_001] {
      #expect(try ids(await list(server, "--limit", "\(limit)")) == Array(all.prefix(limit)))
    }
    // They are further back than a page looks.
    #expect(try ids(await list(server, "--environment", "sandbox")) == ["0001", "0000"])
    #expect(
      try await list(server, "--all", output: "json").document(JSONTree.self).elements.count
        == 1_105)
    #expect(try await server.stop() == .code(0))
  }

  @Test func `a caller of one app needs no option to see its notifications`() async throws {
    let token = bench.folder.file("token")
    let support = bench.folder.file("support")
    var stanzas = ""
    for (name, file, more) in [
      ("ops", token, ["--role", "operator"]),
      ("helper", support, ["--role", "support", "--app", "com.example.scribe=Sandbox"]),
    ] {
      let run = try await ProgramRun.of(
        .entitlectl,
        ["token", "create", "--name", name, "--expires", "P10D", "--out", file] + more)
      try #require(run.exit == .code(0), "\(run.errors)")
      stanzas += run.errors
    }
    let path = try bench.folder.write(
      "version: 1\ncallers:\n\(stanzas)\n", to: "credentials.yaml")
    try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: path)
    let server = try await bench.startServer("--credentials", path)
    let first = try tests(1..<2)
    let second = try tests(2..<3, environment: .sandbox)
    try await submit(first + second, to: server, ["--token-file", token])
    #expect(try ids(await list(server, "--token-file", token)) == ["0002", "0001"])
    #expect(try ids(await list(server, "--token-file", support)) == ["0002"])
    let refused = try await list(
      server, "--token-file", support, "--environment", "production")
    #expect(refused.exit == .code(4), "\(refused.errors)")
    #expect(try await list(server, "--token-file", support, "--all-apps").exit == .code(4))
    // A context with an app is the default, and --all-apps goes before it.
    let contexts = ["ENTITLECTL_CONTEXT": "home", "XDG_CONFIG_HOME": bench.folder.file("config")]
    let set = try await ProgramRun.of(
      .entitlectl,
      [
        "context", "set", "home", "--server", "\(server.address)", "--token-file", token,
        "--bundle-id", "com.example.scribe", "--environment", "production",
      ], environment: contexts)
    try #require(set.exit == .code(0), "\(set.errors)")
    for (more, found) in [([], ["0001"]), (["--all-apps"], ["0002", "0001"])] {
      let run = try await ProgramRun.of(
        .entitlectl, ["notification", "list", "--output", "jsonl"] + more, environment: contexts)
      #expect(try ids(run) == found)
    }
    #expect(try await server.stop() == .code(0))
  }
}
