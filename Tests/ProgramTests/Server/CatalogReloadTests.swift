import EntitlementDomain
import Foundation
import Glibc
import RPCClient
import StoreSimulator
import TestSupport
import Testing
import Wire

/// A new catalog changes all answers without a restart; an invalid one changes nothing.
@Suite("The catalog of a running server", .timeLimit(.minutes(5)))
struct CatalogReloadTests {
  private static let inForce = "another catalog is in force"
  private static let unusable = "the catalog file cannot be used, the old one stays in force"

  private let bench: Bench

  init() throws {
    bench = try Bench()
  }

  /// A catalog in which the purchase confers this entitlement.
  private static func catalog(conferring entitlement: EntitlementID) -> String {
    SimulatedApp.catalogYAML.replacing(
      "type: non_consumable\n    entitlements: [ad_free]",
      with: "type: non_consumable\n    entitlements: [\(entitlement)]")
  }

  private static let broken = SimulatedApp.catalogYAML.replacing(
    "type: consumable", with: "type: eternal")

  /// Replaces the file like editors that write a new file and rename it.
  private func replaceCatalog(_ text: String) throws {
    try Data(text.utf8).write(to: URL(filePath: bench.catalogPath), options: .atomic)
  }

  private func overwriteCatalog(_ text: String) throws {
    try Data(text.utf8).write(to: URL(filePath: bench.catalogPath))
  }

  /// Starts a server with one purchase, runs `body`, and stops the server.
  private func serve(
    _ more: String..., body: (RunningServer, EntitlementClient) async throws -> Void
  ) async throws {
    let server = try await RunningServer.start(bench.serverArguments + more)
    let client = try await server.client()
    _ = try await client.submitSignedTransactions(
      SubmitSignedTransactionsRequest(
        signedPayloads: try bench.signed(.nonConsumable).flatMap(\.facts), accountID: "anna"))
    #expect(try await entitlements(client) == ["ad_free"])
    try await body(server, client)
    await client.close()
    #expect(try await server.stop() == .code(0))
  }

  /// The customer's entitlements, from the cache if possible.
  private func entitlements(_ client: EntitlementClient) async throws -> [EntitlementID] {
    let response = try await client.customerState(
      GetCustomerStateRequest(customer: .account("anna"), scope: Bench.scope))
    guard case .state(let state) = response else { throw HarnessFailure("no state") }
    return state.entitlements.map(\.entitlementID)
  }

  @Test func `SIGHUP has it read the catalog again`() async throws {
    try await serve { server, client async throws in
      let before = try await client.catalog()
      try replaceCatalog(Self.catalog(conferring: "pro"))
      server.signal(SIGHUP)
      let line = try await server.logged(Self.inForce)
      #expect(try await entitlements(client) == ["pro"])
      let after = try await client.catalog()
      #expect(after.digest == line.digest)
      #expect(after.digest != before.digest)
      #expect(after.inForceSince > before.inForceSince)
      #expect(after.lastAttempt?.isValid == true)
    }
  }

  @Test func `a file that changes is read without being asked, however it changes`() async throws {
    try await serve { server, client async throws in
      try replaceCatalog(Self.catalog(conferring: "pro"))
      try await server.logged(Self.inForce)
      #expect(try await entitlements(client) == ["pro"])
      try overwriteCatalog(Self.catalog(conferring: "season"))
      try await server.logged(Self.inForce, times: 2)
      #expect(try await entitlements(client) == ["season"])
    }
  }

  @Test func `a link that is swapped is followed, as Kubernetes does with a config map`()
    async throws
  {
    let files = FileManager.default
    let folder = bench.folder
    for (name, entitlement) in [("old", "ad_free"), ("new", "basic")] {
      try files.createDirectory(atPath: folder.file(name), withIntermediateDirectories: false)
      _ = try folder.write(
        Self.catalog(conferring: EntitlementID(entitlement)), to: "\(name)/mounted.yaml")
    }
    try files.createSymbolicLink(atPath: folder.file("data"), withDestinationPath: "old")
    try files.createSymbolicLink(
      atPath: folder.file("mounted.yaml"), withDestinationPath: "data/mounted.yaml")
    try await serve("--catalog", folder.file("mounted.yaml")) { server, client async throws in
      try files.createSymbolicLink(atPath: folder.file("next"), withDestinationPath: "new")
      #expect(rename(folder.file("next"), folder.file("data")) == 0)
      try await server.logged(Self.inForce)
      #expect(try await entitlements(client) == ["basic"])
    }
  }

  @Test func `a broken file leaves the old one in force and says so, until it is mended`()
    async throws
  {
    try await serve { server, client async throws in
      let before = try await client.catalog()
      try replaceCatalog(Self.broken)
      let line = try await server.logged(Self.unusable)
      #expect(line.level == "error")
      let number = Self.broken.split(separator: "\n", omittingEmptySubsequences: false)
        .firstIndex { $0.contains("eternal") }.map { $0 + 1 }
      let place = "line \(try #require(number)), products[5].type: error"
      #expect(line.reason?.contains(place) == true, "\(line.reason ?? "")")
      #expect(try await entitlements(client) == ["ad_free"])
      let told = try await client.catalog()
      #expect(told.digest == before.digest)
      #expect(told.inForceSince == before.inForceSince)
      #expect(told.lastAttempt?.isValid == false)
      #expect(told.lastAttempt?.digest == line.digest)
      #expect(told.lastAttempt?.issues.map(\.field) == ["products[5].type"])

      // A repeated reload returns the same error, but does not count as a new one.
      #expect(try await client.reloadCatalog().lastAttempt?.issues == told.lastAttempt?.issues)
      let errors = try server.log.filter { $0.level == "error" }
      #expect(errors.count == 1)

      try replaceCatalog(Self.catalog(conferring: "pro"))
      #expect(try await client.reloadCatalog().lastAttempt?.isValid == true)
      #expect(try await entitlements(client) == ["pro"])
    }
  }

  @Test func `a file that goes leaves the old one in force, until it is back`() async throws {
    try await serve { server, client async throws in
      try FileManager.default.removeItem(atPath: bench.catalogPath)
      let line = try await server.logged(Self.unusable)
      #expect(line.level == "error")
      #expect(line.digest == nil)
      #expect(try await entitlements(client) == ["ad_free"])
      // Only a regular file is opened: opening anything else may block forever.
      #expect(mkfifo(bench.catalogPath, 0o600) == 0)
      #expect(
        try await client.reloadCatalog().lastAttempt?.failure == "it is not a regular file")
      try FileManager.default.removeItem(atPath: bench.catalogPath)
      try replaceCatalog(Self.catalog(conferring: "pro"))
      try await server.logged(Self.inForce)
      #expect(try await entitlements(client) == ["pro"])
    }
  }

  @Test func `hangups neither end a server nor keep it from stopping`() async throws {
    let server = try await bench.startServer()
    for _ in 0..<20 { server.signal(SIGHUP) }
    server.signal(SIGTERM)
    for _ in 0..<20 { server.signal(SIGHUP) }
    #expect(try await server.exit() == .code(0))
  }
}
