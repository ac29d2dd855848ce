import Foundation
import StoreSimulator
import TestSupport
import Testing

@Suite("The configuration of entitled", .timeLimit(.minutes(5)))
struct ConfigurationTests {
  private let folder: TemporaryFolder
  private let catalogs: [String]

  init() throws {
    let folder = try TemporaryFolder()
    self.folder = folder
    catalogs = try ["file", "environment", "flag"].map {
      try folder.write(SimulatedApp.catalogYAML, to: "\($0).yaml")
    }
  }

  private func check(
    _ arguments: [String] = [], file: String? = nil, environment: [String: String] = [:]
  ) async throws -> ProgramRun {
    var arguments = ["--check-config"] + arguments
    if let file { arguments += ["--config", try folder.write(file, to: "settings.yaml")] }
    return try await ProgramRun.of(.entitled, arguments, environment: environment)
  }

  /// A setting with its values in the file, the environment and the command line, each in its own
  /// spelling, and the resulting values.
  private struct Row {
    let name: String
    let file: String
    let environment: String
    let flags: [String]
    let inForce: [String]
  }

  private var rows: [Row] {
    let roots = (1...6).map { "sha256:" + String(repeating: "\($0)", count: 64) }
    func plain(_ name: String, _ values: [String]) -> Row {
      let flag = "--" + name.replacing("_", with: "-")
      return Row(
        name: name, file: values[0], environment: values[1], flags: [flag, values[2]],
        inForce: values)
    }
    return [
      Row(
        name: "listen", file: "['127.0.0.1:1', '[::1]:2']", environment: "127.0.0.1:3,[::1]:4",
        flags: ["--listen", "unix:/tmp/e.sock", "--listen", "localhost:5"],
        inForce: [
          "127.0.0.1:1, [::1]:2", "127.0.0.1:3, [::1]:4", "unix:/tmp/e.sock, localhost:5",
        ]),
      Row(
        name: "http_listen", file: "['127.0.0.1:1', 'localhost:2']", environment: "127.0.0.1:3",
        flags: ["--http-listen", "127.0.0.1:4", "--http-listen", "[::1]:5"],
        inForce: ["127.0.0.1:1, localhost:2", "127.0.0.1:3", "127.0.0.1:4, [::1]:5"]),
      Row(
        name: "webhook_listen", file: "['127.0.0.1:1']", environment: "127.0.0.1:2",
        flags: ["--webhook-listen", "[::1]:3"], inForce: ["127.0.0.1:1", "127.0.0.1:2", "[::1]:3"]),
      Row(
        name: "probe_listen", file: "['127.0.0.1:1']", environment: "127.0.0.1:2",
        flags: ["--probe-listen", "[::1]:3"], inForce: ["127.0.0.1:1", "127.0.0.1:2", "[::1]:3"]),
      plain("catalog", catalogs),
      plain("store", ["sqlite:a.sqlite", "sqlite:/b/b.sqlite", "sqlite:c"]),
      Row(
        name: "trust_roots", file: "['\(roots[0])']",
        environment: roots[1...2].joined(separator: ","),
        flags: roots[3...5].flatMap { ["--trust-root", $0] },
        inForce: [roots[0...0], roots[1...2], roots[3...5]].map {
          (["Apple's"] + $0).joined(separator: ", ")
        }),
      Row(
        name: "trust_roots",
        file: "['\(roots[0])', 'production=\(roots[0])']",
        environment: "xcode=\(roots[1]),sandbox=\(roots[2])",
        flags: ["--trust-root", "local-testing=\(roots[3])", "--trust-root", "Xcode=\(roots[3])"],
        inForce: [
          "Apple's, \(roots[0]), production=\(roots[0])",
          "Apple's, xcode=\(roots[1]), sandbox=\(roots[2])",
          "Apple's, xcode=\(roots[3]), local-testing=\(roots[3])",
        ]),
      Row(
        name: "app_store_api", file: "sandbox=http://127.0.0.1:1/a/",
        environment: "production=http://[::1]:2,sandbox=https://s.example.com",
        flags: ["--app-store-api", "production=https://p.example.com:3"],
        inForce: [
          "production=https://api.storekit.apple.com,sandbox=http://127.0.0.1:1/a",
          "production=http://[::1]:2,sandbox=https://s.example.com",
          "production=https://p.example.com:3,sandbox=https://api.storekit-sandbox.apple.com",
        ]),
      plain("store_check_seconds", ["0", "20", "30"]),
      plain("audit_retention_days", ["1", "2", "3"]),
      plain("audit_log", ["/tmp/a", "fd:7", "b.jsonl"]),
      plain("verification_workers", ["1", "2", "3"]),
      plain("verification_queue", ["1000", "2000", "3000"]),
      // `off` without quotes is `false` in YAML.
      plain("certificate_status", ["off", "soft", "strict"]),
      plain("certificate_status", ["soft", "strict", "off"]),
      plain("cache_megabytes", ["11", "22", "33"]),
      plain("memory_budget_megabytes", ["64", "65", "66"]),
      plain("maximum_connections", ["100", "200", "300"]),
      plain("short_connections_per_second", ["400", "500", "600"]),
      plain("idle_seconds", ["1", "2", "3"]),
      plain("shutdown_seconds", ["4", "5", "6"]),
      plain("log_level", ["debug", "warning", "error"]),
      plain("log_format", ["json", "text", "json"]),
      plain(
        "otlp_endpoint", ["http://127.0.0.1:1", "https://traces.example.com/a", "http://[::1]:2"]),
    ]
  }

  @Test func `flags go before the environment, and that before the file`() async throws {
    for row in rows {
      let catalog = row.name == "catalog" ? [] : ["--catalog", catalogs[0]]
      let file = "\(row.name): \(row.file)\n"
      let environment = ["ENTITLE_\(row.name.uppercased())": row.environment]
      let runs = [
        try await check(catalog, file: file),
        try await check(catalog, file: file, environment: environment),
        try await check(catalog + row.flags, file: file, environment: environment),
      ]
      for (run, inForce) in zip(runs, row.inForce) {
        #expect(run.exit == .code(0), "\(row.name): \(run.errors)")
        #expect(run.errors == "")
        let lines = run.output.split(separator: "\n").map(String.init)
        #expect(lines.contains("\(row.name): \(inForce)"), "\(row.name)")
      }
    }
  }

  /// The flags of the table in deploy/docs/entitled.md, but for the ones that are no settings.
  private func documentedSettings() throws -> Set<String> {
    let tests = URL(filePath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
    let page = try String(
      contentsOf: tests.appending(path: "../../../deploy/docs/entitled.md").standardized,
      encoding: .utf8)
    let flags = page.split(separator: "\n").filter { $0.hasPrefix("| `--") }.flatMap { line in
      line.split(separator: "|").first?.matches(of: /--([a-z-]+)/).map { String($0.1) } ?? []
    }
    let lists = [
      "trust-root": "trust_roots", "cors-origin": "cors_origins",
      "store-replica": "store_replicas", "webhook-trusted-proxy": "webhook_trusted_proxies",
    ]
    let names = flags.map { lists[$0] ?? $0.replacing("-", with: "_") }
    return Set(names).subtracting(["config", "check_config", "version"])
  }

  @Test func `every setting is listed with what is in force, of either kind of store`() async throws
  {
    let replicas = ["postgresql://u@a/d", "postgresql://u@b/d"]
    let runs = [
      try await check(["--catalog", catalogs[0]]),
      try await check([
        "--catalog", catalogs[0], "--store", "postgresql://u@h/d", "--store-replica", replicas[0],
        "--store-replica", replicas[1], "--store-readers", "7",
      ]),
    ]
    for run in runs { #expect(run.exit == .code(0), "\(run.errors)") }
    let listed = Set(
      runs.flatMap { $0.output.split(separator: "\n") }
        .compactMap { $0.split(separator: ":").first.map(String.init) })
    let documented = try documentedSettings()
    #expect(documented.count > 30)
    #expect(documented.subtracting(listed) == [])
    #expect(
      runs[1].output.contains(
        "\nstore_replicas: \(replicas[0]), \(replicas[1])\nstore_readers: 7\nstore_writers: 2\n"))
    #expect(!runs[0].output.contains("store_re"))
  }

  @Test func `a switch is set by each of them too`() async throws {
    let name = "allow_unprotected_listen"
    let catalog = ["--catalog", catalogs[0]]
    let variable = "ENTITLE_ALLOW_UNPROTECTED_LISTEN"
    let rows: [(run: ProgramRun, value: Bool)] = [
      (try await check(catalog), false),
      (try await check(catalog, file: "\(name): true"), true),
      (
        try await check(catalog, file: "\(name): true", environment: [variable: "false"]), false
      ),
      (
        try await check(
          catalog + ["--allow-unprotected-listen"], environment: [variable: "false"]), true
      ),
    ]
    for row in rows {
      #expect(row.run.exit == .code(0))
      #expect(row.run.output.contains("\(name): \(row.value)\n"))
    }
  }

  @Test func `the catalog is checked with the settings, and counted`() async throws {
    let run = try await check(["--catalog", catalogs[0]])
    #expect(
      run.output.hasSuffix(
        "The configuration is valid: 1 apps, 6 products, 4 entitlements.\n"))
  }

  @Test func `a root for Production beside Apple's is a warning of the check, and of every start`()
    async throws
  {
    let bench = try Bench()
    let root = "\(bench.authority.rootFingerprint)"
    let file = try bench.folder.write(
      String(decoding: try bench.authority.rootPEM(), as: UTF8.self), to: "root.pem")
    let warning =
      "trust_roots: \(root) is trusted for Production beside Apple's roots: its key can sign "
      + "purchases that nobody paid for"
    let rows: [([String], Bool)] = [
      ([root], false), (["xcode=\(root)", "sandbox=\(file)", "local-testing=\(root)"], false),
      (["production=\(root)"], true), ([file, "production=\(file)"], true),
    ]
    for (roots, isWarned) in rows {
      let flags = roots.flatMap { ["--trust-root", $0] }
      let run = try await check(["--catalog", catalogs[0]] + flags)
      #expect(run.exit == .code(0), "\(run.errors)")
      #expect(run.output.contains("\nwarning: \(warning)\n") == isWarned)
      for _ in 1...2 {
        let server = try await RunningServer.start(
          [
            "--listen", "127.0.0.1:0", "--catalog", bench.catalogPath, "--store",
            "sqlite:\(bench.databasePath)", "--create", "--log-format", "json",
          ] + flags)
        #expect(
          try server.log.filter { $0.level == "warning" }.map(\.issue)
            == (isWarned ? [warning] : []))
        let health = try await Bench.control(server, "health")
        #expect(health.exit == .code(0))
        #expect(health.output.hasPrefix(Bench.serving))
        #expect(health.output.contains("\nwarning         \(warning)\n") == isWarned)
        #expect(try await server.stop() == .code(0))
      }
    }
  }

  @Test("A virtual time is possible only where no root is trusted for Production")
  func developmentClock() async throws {
    let root = "sha256:" + String(repeating: "1", count: 64)
    let apple = "sha256:63343abfb89a6a03ebb57e9b3f5fa7be7c4f5c756f3017b3a8c488c3653e9179"
    let without = "--without-apple-roots"
    let url = "http://127.0.0.1:7190"
    let refusal = "development_clock: possible only where no root is trusted for Production: "
    let others = "Apple's are, unless without_apple_roots is set"
    let rows: [([String], String?)] = [
      ([], others), (["--trust-root", root], others),
      (["--trust-root", "production=\(root)"], "trust_roots names one; \(others)"),
      ([without], nil), ([without, "--trust-root", root], nil),
      ([without, "--trust-root", apple], nil),
      ([without, "--trust-root", "production=\(root)"], "trust_roots names one"),
      ([without, "--trust-root", "production=\(apple)"], "trust_roots names one"),
      (
        [without, "--trust-root", "sandbox=\(root)", "--trust-root", "production=\(root)"],
        "trust_roots names one"
      ),
    ]
    for (arguments, cause) in rows {
      for more in cause == nil ? [["--check-config"]] : [["--check-config"], []] {
        let run = try await ProgramRun.of(
          .entitled,
          ["--catalog", catalogs[0], "--development-clock", url] + arguments + more)
        if let cause {
          #expect(run.exit == .code(78) && run.output == "")
          #expect(run.errors == "entitled: \(refusal)\(cause)\n", "\(arguments)")
        } else {
          #expect(run.exit == .code(0), "\(arguments): \(run.errors)")
          #expect(run.output.contains("\ndevelopment_clock: \(url)\n"))
          #expect(run.output.contains("\nwarning: development_clock: time is the virtual time of"))
          #expect(!run.output.contains("Apple's"), "\(run.output)")
        }
      }
    }
    for wrong in ["http://192.0.2.1:7190", "http://simulator.example.com", "ftp://127.0.0.1", "x"] {
      let run = try await check(
        ["--catalog", catalogs[0], without, "--development-clock", wrong])
      #expect(run.exit == .code(78) && run.errors.hasPrefix("entitled: development_clock: "))
    }
    let none = try await check(["--catalog", catalogs[0], without])
    #expect(none.output.contains("\ntrust_roots: none\nwithout_apple_roots: true\n"))
    #expect(
      none.output.contains(
        "\nwarning: without_apple_roots: no root is trusted, so nothing signed is accepted\n"))
  }

  @Test func `the environment can name the file, and entitlectl's server does not disturb`()
    async throws
  {
    let file = try folder.write("catalog: \(catalogs[0])\nidle_seconds: 77", to: "named.yaml")
    let run = try await check(
      environment: ["ENTITLE_CONFIG": file, "ENTITLECTL_SERVER": "127.0.0.1:7100"])
    #expect(run.exit == .code(0), "\(run.errors)")
    #expect(run.output.contains("idle_seconds: 77\n"))
  }

  @Test func `what Kubernetes sets for a Service does not disturb, what looks like it does`()
    async throws
  {
    let names = [
      "ENTITLE_SERVICE_HOST", "ENTITLE_SERVICE_PORT", "ENTITLE_SERVICE_PORT_RPC", "ENTITLE_PORT",
      "ENTITLE_PORT_7100_TCP", "ENTITLE_PORT_7100_TCP_PROTO", "ENTITLE_PORT_7100_TCP_PORT",
      "ENTITLE_PORT_7100_TCP_ADDR", "ENTITLE_BACKEND_SERVICE_HOST", "ENTITLE_BACKEND_PORT",
    ]
    let run = try await check(
      ["--catalog", catalogs[0]],
      environment: Dictionary(uniqueKeysWithValues: names.map { ($0, "tcp://10.0.0.1:7100") }))
    #expect(run.exit == .code(0), "\(run.errors)")
    for name in ["ENTITLE_PORTS", "ENTITLE_PORT_NUMBER", "ENTITLE_HOST", "ENTITLE_SERVICE"] {
      let run = try await check(["--catalog", catalogs[0]], environment: [name: "x"])
      #expect(run.exit == .code(78), "\(name)")
    }
  }

  @Test func `an address that others can reach is found by the check, too`() async throws {
    let arguments = ["--catalog", catalogs[0], "--listen", "0.0.0.0:7100"]
    let run = try await check(arguments)
    #expect(run.exit == .code(77))
    #expect(run.output == "")
    #expect(run.errors.hasPrefix("entitled: 0.0.0.0:7100 can be reached from other machines"))
    #expect(try await check(arguments + ["--allow-unprotected-listen"]).exit == .code(0))
  }

  @Test("An address for HTTP needs what others need, and one for the App Store only TLS")
  func httpAddresses() async throws {
    let catalog = ["--catalog", catalogs[0]]
    let both =
      "there is no access control (--credentials FILE) and no TLS (tls:HOST:PORT). Use both"
    for (flag, missing) in [
      ("--http-listen", both), ("--probe-listen", both),
      ("--webhook-listen", "there is no TLS (tls:HOST:PORT). Use TLS"),
    ] {
      let run = try await check(catalog + [flag, "0.0.0.0:7181"])
      #expect(run.exit == .code(77))
      #expect(run.errors.contains(missing), "\(run.errors)")
      let allowed = try await check(
        catalog + [flag, "0.0.0.0:7181", "--allow-unprotected-listen"])
      #expect(allowed.exit == .code(0))
      #expect(allowed.output.contains("\nwarning: allow_unprotected_listen: 0.0.0.0:7181 can be"))
      let unix = try await check(catalog + [flag, "unix:/tmp/e.sock"])
      #expect(unix.exit == .code(78))
      #expect(unix.errors.contains("HOST:PORT or tls:HOST:PORT is expected"))
      let encrypted = try await check(catalog + [flag, "tls:0.0.0.0:7181"])
      #expect(encrypted.errors.contains("tls_certificate: missing: tls:0.0.0.0:7181 needs"))
    }
  }

  @Test("Origins are exact, and apply to a listener")
  func origins() async throws {
    let catalog = ["--catalog", catalogs[0]]
    let listener = ["--http-listen", "127.0.0.1:1"]
    let origin = "https://admin.example.com"
    let run = try await check(
      catalog + listener, environment: ["ENTITLE_CORS_ORIGINS": "\(origin),http://localhost:3000"])
    #expect(run.output.contains("cors_origins: \(origin), http://localhost:3000\n"))
    let unused = try await check(catalog + ["--cors-origin", origin])
    #expect(unused.errors == "entitled: cors_origins: requires http_listen\n")
    for wrong in ["*", "https://*.example.com", "https://a.example/"] {
      let run = try await check(catalog + listener + ["--cors-origin", wrong])
      #expect(run.exit == .code(78))
      #expect(run.errors.hasPrefix("entitled: cors_origins: \(wrong): an origin is expected"))
    }
  }

  @Test("Trusted proxies are addresses or blocks, and apply to a listener")
  func trustedProxies() async throws {
    let catalog = ["--catalog", catalogs[0]]
    let listener = ["--webhook-listen", "127.0.0.1:1"]
    let run = try await check(
      catalog + listener, environment: ["ENTITLE_WEBHOOK_TRUSTED_PROXIES": "10.0.0.0/8,::1"])
    #expect(run.output.contains("webhook_trusted_proxies: 10.0.0.0/8, ::1\n"))
    #expect(try await check(catalog).output.contains("webhook_trusted_proxies: none\n"))
    let unused = try await check(catalog + ["--webhook-trusted-proxy", "192.0.2.1"])
    #expect(unused.errors == "entitled: webhook_trusted_proxies: requires webhook_listen\n")
    for wrong in ["proxy.example.com", "10.0.0.1/8", "10.0.0.0/33"] {
      let run = try await check(catalog + listener + ["--webhook-trusted-proxy", wrong])
      #expect(run.exit == .code(78))
      #expect(
        run.errors.hasPrefix("entitled: webhook_trusted_proxies: \(wrong): an address or a block"))
    }
  }

  @Test func `a stream that takes nothing changes no exit code but that of what is lost`()
    async throws
  {
    let arguments = ["--check-config", "--catalog", catalogs[0]]
    let lost = try await ProgramRun.of(.entitled, arguments, through: "exec \"$@\" >/dev/full")
    #expect(lost.exit == .code(1))
    #expect(lost.errors == "entitled: stdout cannot be written\n")
    for (option, code): (String, Int32) in [("--log-level", 78), ("--catalog", 65)] {
      let run = try await ProgramRun.of(
        .entitled, arguments + [option, "nonsense"], through: "exec \"$@\" 2>/dev/full")
      #expect(run.exit == .code(code))
    }
  }

  @Test func `everything that is wrong is told at once, a line each`() async throws {
    let run = try await check(
      ["--log-level", "loud", "--cache-megabytes", "many", "--listen", "nowhere"],
      file: """
        idle_seconds: 0
        verification_workers: [1]
        cathalog: x.yaml
        trust_roots: ["sha256:12", "prod=sha256:12", "xcode=SHA256:12", "sandbox=none.pem"]
        store: postgres
        """,
      environment: ["ENTITLE_SHUTDOWN_SECONDS": "soon", "ENTITLE_LISTENS": "x"])
    #expect(run.exit == .code(78))
    #expect(run.output == "")
    let lines = run.errors.split(separator: "\n").map(String.init)
    let beginnings = [
      "entitled: environment variable ENTITLE_LISTENS: unknown; known: ENTITLE_",
      "\(folder.file("settings.yaml")), line 3, cathalog: unknown setting; known: listen, ",
      "listen: nowhere: ", "catalog: missing", "store: sqlite:PATH or postgresql://",
      "trust_roots: sha256:12: not a fingerprint: ",
      "trust_roots: prod=sha256:12: unknown environment; known: production, sandbox, xcode, ",
      "trust_roots: xcode=SHA256:12: not a fingerprint: ",
      "trust_roots: sandbox=none.pem: the file cannot be read",
      "verification_workers: an integer from 1 to ",
      "cache_megabytes: an integer from 1 to ", "idle_seconds: an integer from 1 to ",
      "shutdown_seconds: an integer from 1 to ", "log_level: loud: unknown; allowed: trace, ",
    ]
    #expect(lines.count == beginnings.count)
    for (line, beginning) in zip(lines, beginnings) {
      #expect(line.hasPrefix(beginning), "\(line)")
    }
  }

  @Test(
    "78: a password in the command line, with the ways to give it and without repeating it",
    arguments: [
      ["--store", "postgresql://u:hush@h/d"],
      ["--store", "postgres://u:h%75sh@a:1,b:2/d?sslmode=require"],
      ["--store", "postgresql://u:hush%40hush@/d?host=/run/pg"],
      ["--store", "postgresql:///d?user=u&password=hush"],
      ["--store", "postgresql://u@h/d?sslpassword=hush"],
      ["--store", "host=h user=u password='hush hush'"],
      // libpq cannot parse these.
      ["--store", "postgresql://u:hush%zz@h/d"],
      ["--store", "postgresql://u@[h/d?password=hush"],
      [
        "--store", "postgresql://u@h/d", "--store-replica", "postgresql://u@h/d",
        "--store-replica", "postgresql://u:hush@h/d",
      ],
    ])
  func passwordArguments(arguments: [String]) async throws {
    let option = arguments[arguments.count - 2]
    let key = option == "--store" ? "store" : "store_replicas"
    for more in [["--check-config"], []] {
      let run = try await ProgramRun.of(
        .entitled, ["--catalog", catalogs[0]] + more + arguments)
      #expect(run.exit == .code(78))
      #expect(run.output == "")
      #expect(run.errors.contains("\(option) contains a password"), "\(run.errors)")
      for way in [
        "configuration file (\(key))", "ENTITLE_\(key.uppercased())", "~/.pgpass", "PGPASSFILE",
        "passfile=", "$CREDENTIALS_DIRECTORY",
      ] {
        #expect(run.errors.contains(way), "\(run.errors)")
      }
      #expect(!run.errors.contains("hush"))
      #expect(!run.errors.contains("h%75sh"))
    }
  }

  @Test("A password is taken from the environment and from the settings file, and is not shown")
  func passwordElsewhere() async throws {
    let uri = "postgresql://u:hush@h/d"
    let catalog = ["--catalog", catalogs[0]]
    let runs = [
      try await check(catalog, environment: ["ENTITLE_STORE": uri, "ENTITLE_STORE_REPLICAS": uri]),
      try await check(catalog, file: "store: \(uri)\nstore_replicas: ['\(uri)']"),
      try await check(
        catalog + ["--store", "postgresql://u@h/d?passfile=/run/credentials/entitled/pgpass"],
        environment: ["PGPASSWORD": "hush"]),
    ]
    for run in runs {
      #expect(run.exit == .code(0), "\(run.errors)")
      #expect(run.output.contains("store: postgresql://u@h/d\n"), "\(run.output)")
      #expect(!(run.output + run.errors).contains("hush"))
    }
  }

  @Test(
    "A settings file that is not YAML is told without its text, which may have a password",
    arguments: ["?a: b", "\tx", "\"", ": ["])
  func passwordInBrokenFile(end: String) async throws {
    let run = try await check(
      ["--catalog", catalogs[0]],
      file: "listen: 127.0.0.1:0\nstore: postgresql://u:hush@h/d\(end)\n")
    #expect(run.exit == .code(78), "\(run.output)")
    #expect(!(run.output + run.errors).contains("hush"), "\(run.errors)")
  }

  @Test(
    "An unusable settings file is named",
    arguments: [nil, "a: b: c", "- listen", "\u{1}", ": ["])
  func unusableFile(text: String?) async throws {
    let path = folder.file("settings.yaml")
    if let text { _ = try folder.write(text, to: "settings.yaml") }
    let run = try await ProgramRun.of(
      .entitled, ["--check-config", "--catalog", catalogs[0], "--config", path])
    #expect(run.exit == .code(78), "\(run.output)")
    #expect(run.output == "")
    #expect(run.errors.hasPrefix("entitled: "))
    #expect(run.errors.contains(path))
  }

  @Test func `a catalog with errors is told line by line`() async throws {
    let path = try folder.write(
      SimulatedApp.catalogYAML
        .replacing("type: consumable", with: "type: edible")
        .replacing("duration: P3M", with: "duration: later"),
      to: "bad.yaml")
    let lines = SimulatedApp.catalogYAML.split(separator: "\n", omittingEmptySubsequences: false)
    let duration = try #require(lines.firstIndex { $0.contains("P3M") }) + 1
    let type = try #require(lines.firstIndex { $0.hasSuffix("type: consumable") }) + 1
    let run = try await check(["--catalog", path])
    #expect(run.exit == .code(65))
    #expect(run.output == "")
    let told = run.errors.split(separator: "\n").map(String.init)
    try #require(told.count == 3, "\(run.errors)")
    #expect(told[0] == "entitled: the catalog is not valid")
    #expect(told[1].hasPrefix("\(path): line \(duration), products[3].duration: error: "))
    #expect(told[2].hasPrefix("\(path): line \(type), products[5].type: error: "))
  }
}
