import Cryptography
import Foundation
import Glibc
import StoreSimulator
import TestSupport
import Testing

/// The section `app_store` of the settings file: the keys of the App Store Server API.
@Suite("The keys of the App Store Server API", .timeLimit(.minutes(5)))
struct AppStoreSettingsTests {
  private static let issuer = "11111111-2222-3333-4444-555555555555"
  private static let readAgain = "the keys of the App Store Server API were read again"
  private static let unusable =
    "the keys of the App Store Server API cannot be used; the former ones stay in force"

  private let bench: Bench
  private let key: String
  private let pem: String

  init() throws {
    bench = try Bench()
    pem = String(decoding: try SigningKey.generate(.p256).privateKeyPEM(), as: UTF8.self)
    key = try Self.secret(bench, pem, "AuthKey_ABC123DEFG.p8")
  }

  private static func secret(
    _ bench: Bench, _ text: String, _ name: String, mode: mode_t = 0o600
  ) throws -> String {
    let path = try bench.folder.write(text, to: name)
    #expect(chmod(path, mode) == 0)
    return path
  }

  /// An element of `keys`.
  private func element(
    issuer: String = Self.issuer, id: String = "ABC123DEFG", file: String? = nil,
    apps: String = "[com.example.scribe]"
  ) -> String {
    """
        - issuer_id: \(issuer)
          key_id: \(id)
          private_key_file: \(file ?? key)
          bundle_ids: \(apps)

    """
  }

  private func section(_ elements: String...) -> String {
    "app_store:\n  keys:\n\(elements.joined())"
  }

  private func check(
    _ settings: String, environment: [String: String] = [:]
  ) async throws -> ProgramRun {
    let file = try bench.folder.write(settings, to: "checked.yaml")
    return try await ProgramRun.of(
      .entitled, ["--check-config", "--catalog", bench.catalogPath, "--config", file],
      environment: environment)
  }

  @Test func `the check shows each key with its apps, and which of them are not served`()
    async throws
  {
    let one = try await check("idle_seconds: 7\n" + section(element()) + "log_level: error\n")
    #expect(one.exit == .code(0), "\(one.errors)")
    for line in [
      "app_store: ABC123DEFG for com.example.scribe", "idle_seconds: 7", "log_level: error",
    ] {
      #expect(one.output.contains("\n\(line)\n"), "\(one.output)")
    }
    #expect(!one.output.contains("warning"))
    let two = try await check(
      section(
        element(), element(id: "ZZ", apps: "[com.example.other, com.example.more]")))
    #expect(
      two.output.contains(
        "\napp_store: ABC123DEFG for com.example.scribe, ZZ for 2 apps (3 apps)\n"))
    for app in ["com.example.more", "com.example.other"] {
      #expect(
        two.output.contains("\nwarning: app_store: \(app) has a key, and is not in the catalog\n"))
    }
    #expect(try await check("idle_seconds: 7").output.contains("\napp_store: none\n"))
  }

  @Test func `a key can be a credential of systemd`() async throws {
    let folder = bench.folder.path
    _ = try Self.secret(bench, pem, "store-key", mode: 0o440)
    let settings = section(element().replacing("private_key_file: \(key)", with: "@"))
    func check(_ field: String) async throws -> ProgramRun {
      try await self.check(
        settings.replacing("@", with: field), environment: ["CREDENTIALS_DIRECTORY": folder])
    }
    #expect(try await check("private_key_credential: store-key").exit == .code(0))
    for name in ["../store-key", "nothing", "."] {
      let run = try await check("private_key_credential: \(name)")
      #expect(run.exit == .code(78))
      #expect(run.errors.contains("line 5, app_store.keys[0].private_key_credential: error: "))
    }
    let without = try await self.check(
      settings.replacing("@", with: "private_key_credential: store-key"))
    #expect(without.errors.contains("$CREDENTIALS_DIRECTORY is not set"), "\(without.errors)")
  }

  @Test func `higher rates than Apple's are for a simulator on this machine`() async throws {
    func check(_ factor: String, _ more: String = "") async throws -> ProgramRun {
      try await self.check(section(element()) + "  rate_factor: \(factor)\n" + more)
    }
    let simulator = "app_store_api: production=http://127.0.0.1:1,sandbox=http://127.0.0.1:1\n"
    #expect(try await check("40", simulator).exit == .code(0))
    #expect(try await check("0.5").exit == .code(0))
    for more in ["", "app_store_api: production=http://127.0.0.1:1\n"] {
      let refused = try await check("40", more)
      #expect(refused.exit == .code(78))
      #expect(refused.errors.contains("app_store.rate_factor: more than 0.8 of Apple's rates"))
    }
    for factor in ["0", "fast", "nan", "1e9"] {
      let refused = try await check(factor, simulator)
      #expect(refused.exit == .code(78))
      #expect(refused.errors.contains("app_store.rate_factor: error: a number from 0.001"))
    }
  }

  @Test func `each mistake is told with its place, and no key is shown`() async throws {
    let open = try Self.secret(bench, pem, "open.p8", mode: 0o644)
    let other = try Self.secret(bench, "hello", "other.p8")
    let flat = pem.replacing("\n", with: "")
    let body = pem.split(separator: "\n").dropFirst().dropLast().joined()
    let rows: [(String, String)] = [
      ("app_store:\n", "line 1, app_store: error: a mapping is expected"),
      ("app_store: {}\n", "line 1, app_store.keys: error: missing"),
      ("app_store: {keys: []}\n", "line 1, app_store.keys: error: at least one is needed"),
      ("app_store: {key: []}\n", "line 1, app_store.key: error: unknown field; allowed: keys"),
      (section(element(issuer: "x")), "line 3, app_store.keys[0].issuer_id: error: a UUID"),
      (section(element(id: "A")), "line 4, app_store.keys[0].key_id: error: a key id has 2 to 64"),
      (section(element(id: "A_C")), "line 4, app_store.keys[0].key_id: error: a key id has 2"),
      (section(element(apps: "[]")), "line 6, app_store.keys[0].bundle_ids: error: at least one"),
      (
        section(element(apps: "[a, b]"), element(apps: "[c, b]")),
        "line 10, app_store.keys[1].bundle_ids[1]: error: the app has two keys"
      ),
      (
        section(element(apps: "[a/b]")),
        "line 5, app_store.keys[0].private_key_file: error: a/b: a bundle id has letters"
      ),
      (
        section(element(apps: "[\((0...1_000).map { "a\($0)" }.joined(separator: ", "))]")),
        "line 6, app_store.keys[0].bundle_ids: error: at most 1000 apps are possible"
      ),
      (
        "app_store:\n  keys:\n" + (0...64).map { element(apps: "[a\($0)]") }.joined(),
        "app_store.keys: error: at most 64 keys are possible"
      ),
      (
        section(element(file: "/nonexistent")),
        "line 5, app_store.keys[0].private_key_file: error: the key cannot be read"
      ),
      (
        section(element(file: open)),
        "line 5, app_store.keys[0].private_key_file: error: other users may read the key"
      ),
      (
        section(element(file: other)),
        "line 5, app_store.keys[0].private_key_file: error: not a P-256 key in PEM"
      ),
      (
        section(element(file: "\"\(flat)\"")),
        "line 5, app_store.keys[0].private_key_file: error: the path of a .p8 file is expected"
      ),
      (
        section(element(file: body)),
        "line 5, app_store.keys[0].private_key_file: error: the key cannot be read"
      ),
      (
        section(element()).replacing("private_key_file: \(key)", with: "other: 1"),
        "line 5, app_store.keys[0].other: error: unknown field; allowed: issuer_id, "
      ),
      (
        section(element()).replacing("key_id: ABC123DEFG", with: "private_key_credential: x"),
        "line 3, app_store.keys[0]: error: one of private_key_file and private_key_credential"
      ),
      ("a: &a 1\n" + section(element()).replacing("ABC123DEFG\n", with: "*a\n"), "error: "),
    ]
    for (settings, expected) in rows {
      let run = try await check(settings)
      #expect(run.exit == .code(78) && run.output == "", "\(settings)")
      #expect(run.errors.contains("checked.yaml: "), "\(run.errors)")
      #expect(run.errors.contains(expected), "\(expected)\n\(run.errors)")
      #expect(!run.errors.contains(body), "\(run.errors)")
    }
  }

  @Test func `a running server gets its first key`() async throws {
    let settings = bench.folder.file("settings.yaml")
    func write(_ text: String) throws {
      try Data(text.utf8).write(to: URL(filePath: settings), options: .atomic)
    }
    let others = "app_store_api: production=http://127.0.0.1:1,sandbox=http://127.0.0.1:1\n"
    try write(others)
    let server = try await bench.startServer("--config", settings)
    func reconcile() async throws -> ProgramRun {
      try await Bench.control(
        server, "reconcile", "--app", "com.example.scribe", "--environment", "sandbox", "--since",
        "1d", "--no-wait")
    }
    let before = try await reconcile()
    #expect(before.exit == .code(2))
    #expect(before.errors.contains("this server has no key of the App Store Server API for"))
    try write(others + section(element()))
    try await server.logged(Self.readAgain)
    let after = try await reconcile()
    #expect(after.exit == .code(0), "\(after.errors)")
    #expect(try await server.stop() == .code(0))
  }

  @Test func `a running server takes other keys, and keeps the former ones when it cannot`()
    async throws
  {
    let settings = bench.folder.file("settings.yaml")
    func write(_ text: String) throws {
      try Data(text.utf8).write(to: URL(filePath: settings), options: .atomic)
    }
    try write(section(element()))
    let server = try await bench.startServer("--config", settings)
    func warnings() async throws -> String {
      try await Bench.control(server, "health").output
    }
    #expect(try await !warnings().contains("app_store"))

    server.signal(SIGHUP)
    try await server.logged(Self.readAgain)

    // The file is named before it is there.
    let later = bench.folder.file("later.p8")
    try write(section(element(), element(id: "LATER", file: later, apps: "[com.example.other]")))
    let failure = try await server.logged(Self.unusable)
    #expect(failure.level == "error")
    #expect(failure.reason?.contains("app_store.keys[1].private_key_file") == true)
    #expect(try await warnings().contains("app_store: the keys cannot be used; the former"))
    try Data(pem.utf8).write(to: URL(filePath: later + ".new"))
    #expect(chmod(later + ".new", 0o600) == 0)
    #expect(rename(later + ".new", later) == 0)
    try await server.logged(Self.readAgain, times: 2)
    #expect(try await !warnings().contains("app_store"))

    // The same failure is told once.
    try write("app_store: [")
    try await server.logged(Self.unusable, times: 2)
    server.signal(SIGHUP)
    try write("idle_seconds: 5\n")
    try await server.logged(Self.readAgain, times: 3)
    #expect(try server.log.filter { $0.message == Self.unusable }.count == 2)
    #expect(!server.logText.contains(pem.split(separator: "\n")[1]))
    #expect(try await server.stop() == .code(0))
  }
}
