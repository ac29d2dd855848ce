import Foundation
import StoreSimulator
import TestSupport
import Testing
import Wire

@Suite("Failures at the start of entitled", .timeLimit(.minutes(5)))
struct StartFailureTests {
  private let bench: Bench

  init() throws {
    bench = try Bench()
  }

  /// Starts a server that is expected to exit.
  private func start(_ changes: [String: String] = [:], _ more: String...) async throws
    -> ProgramRun
  {
    var arguments = bench.serverArguments
    for (flag, value) in changes {
      let position = try #require(arguments.firstIndex(of: flag))
      arguments[position + 1] = value
    }
    return try await ProgramRun.of(.entitled, arguments + more)
  }

  private func expect(
    _ run: ProgramRun, code: Int32, _ message: String,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(run.exit == .code(code), "\(run.errors)", sourceLocation: sourceLocation)
    #expect(run.output == "", sourceLocation: sourceLocation)
    #expect(
      Self.afterLog(run.errors).hasPrefix("entitled: \(message)"), "\(run.errors)",
      sourceLocation: sourceLocation)
  }

  /// The text after the log lines, each of which is a JSON object.
  private static func afterLog(_ text: String) -> Substring {
    var rest = text[...]
    while rest.first == "{", let end = rest.firstIndex(of: "\n") {
      rest = rest[rest.index(after: end)...]
    }
    return rest
  }

  @Test func `65: the catalog is missing, not UTF-8, or wrong`() async throws {
    let none = bench.folder.file("none.yaml")
    expect(try await start(["--catalog": none]), code: 65, "the catalog \(none) cannot be read")
    let binary = bench.folder.file("binary.yaml")
    try Data([0xC3, 0x28, 0xFF]).write(to: URL(filePath: binary))
    expect(try await start(["--catalog": binary]), code: 65, "the catalog \(binary) cannot be read")
    let wrong = try bench.folder.write("version: 2\napps: []\n", to: "wrong.yaml")
    let run = try await start(["--catalog": wrong])
    expect(run, code: 65, "the catalog is not valid\n\(wrong): line 1, version: error: ")
    #expect(!FileManager.default.fileExists(atPath: bench.databasePath))
  }

  @Test func `69: the address is in use, or not one of this machine`() async throws {
    let first = try await bench.startServer()
    let store = ["--store": "sqlite:\(bench.folder.file("other.sqlite"))"]
    let taken = try await start(store.merging(["--listen": "\(first.address)"]) { $1 })
    expect(taken, code: 69, "\(first.address): the address is in use")
    // The failed start leaves nothing behind: the same database can be served.
    let second = try await RunningServer.start(
      bench.serverArguments + [
        "--store", "sqlite:\(bench.folder.file("other.sqlite"))",
      ])
    #expect(try await second.stop() == .code(0))
    let elsewhere = try await start(
      store.merging(["--listen": "192.0.2.1:7100"]) { $1 }, "--allow-unprotected-listen")
    expect(elsewhere, code: 69, "192.0.2.1:7100: the address is not available")
    let folder = "unix:\(bench.folder.file("none/e.sock"))"
    expect(
      try await start(store.merging(["--listen": folder]) { $1 }), code: 69,
      "\(folder): the address is not available")
    let file = "unix:\(try bench.folder.write("mine", to: "file.sock"))"
    expect(
      try await start(store.merging(["--listen": file]) { $1 }), code: 69,
      "\(file): the file there is not a socket")
    #expect(try String(contentsOfFile: bench.folder.file("file.sock"), encoding: .utf8) == "mine")
  }

  @Test func `69: a Unix socket that a server listens on is in use, one of a dead server is not`()
    async throws
  {
    let path = bench.folder.file("e.sock")
    let first = try await bench.startServer("--listen", "unix:\(path)", listeners: 2)
    let taken = try await start([
      "--listen": "unix:\(path)", "--store": "sqlite:\(bench.folder.file("other.sqlite"))",
    ])
    expect(taken, code: 69, "unix:\(path): the address is in use")
    first.signal(SIGKILL)
    #expect(try await first.exit() == .signal(SIGKILL))
    #expect(FileManager.default.fileExists(atPath: path))
    let second = try await bench.startServer("--listen", "unix:\(path)", listeners: 2)
    #expect(try await second.stop() == .code(0))
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test func `72: the database is missing, empty or damaged, and is left as it was`() async throws {
    let missing = bench.folder.file("missing.sqlite")
    let empty = try bench.folder.write("", to: "empty.sqlite")
    for path in [missing, empty] {
      let arguments = bench.serverArguments.filter { $0 != "--create" }
      let run = try await ProgramRun.of(.entitled, arguments + ["--store", "sqlite:\(path)"])
      expect(run, code: 72, "the database \(path): it ")
      #expect(run.errors.contains("--create"))
    }
    #expect(!FileManager.default.fileExists(atPath: missing))
    #expect(try Data(contentsOf: URL(filePath: empty)).isEmpty)
    let text = try bench.folder.write("It was a dark and stormy night.", to: "text.sqlite")
    expect(
      try await start(["--store": "sqlite:\(text)"]), code: 72,
      "the database \(text): the file is not a database. Nothing is served")
    #expect(try String(contentsOfFile: text, encoding: .utf8) == "It was a dark and stormy night.")
    // A page of a database that was served.
    let server = try await bench.startServer()
    try await bench.submit(Bench.population(20), to: server)
    #expect(try await server.stop() == .code(0))
    var bytes = [UInt8](try Data(contentsOf: URL(filePath: bench.databasePath)))
    bytes.replaceSubrange(4_096..<8_192, with: [UInt8](repeating: 0, count: 4_096))
    try Data(bytes).write(to: URL(filePath: bench.databasePath))
    expect(try await start(), code: 72, "the database \(bench.databasePath): the file is damaged")
  }

  @Test func `73: the database cannot be opened`() async throws {
    for path in [bench.folder.file("none/e.sqlite"), bench.folder.path, "/proc/e.sqlite"] {
      expect(
        try await start(["--store": "sqlite:\(path)"]), code: 73, "the database \(path): ")
    }
  }

  @Test func `75: another process holds the database`() async throws {
    let first = try await bench.startServer()
    expect(try await start(), code: 75, "the database \(bench.databasePath): another process")
    // The first server is not affected.
    #expect(try await Bench.control(first, "health").exit == .code(0))
    #expect(try await first.stop() == .code(0))
    let second = try await bench.startServer()
    #expect(try await second.stop() == .code(0))
  }

  @Test func `76: the database is of a newer version, and is left as it was`() async throws {
    let server = try await bench.startServer()
    #expect(try await server.stop() == .code(0))
    var bytes = [UInt8](try Data(contentsOf: URL(filePath: bench.databasePath)))
    // `user_version` and `application_id`, big-endian (SQLite, "Database File Format", 1.3).
    bytes.replaceSubrange(60..<64, with: [0, 0, 0x27, 0x0F])
    bytes.replaceSubrange(68..<72, with: Array("enti".utf8))
    let newer = bench.folder.file("newer.sqlite")
    try Data(bytes).write(to: URL(filePath: newer))
    let run = try await start(["--store": "sqlite:\(newer)"])
    expect(run, code: 76, "the database \(newer): the database has schema version 9999")
    #expect(try Data(contentsOf: URL(filePath: newer)) == Data(bytes))
  }

  @Test func `77: an address that others can reach, unless it is said to be wanted`() async throws {
    for address in ["0.0.0.0:0", "[::]:0"] {
      let run = try await start(["--listen": address])
      expect(run, code: 77, "\(address) can be reached from other machines")
      #expect(run.errors.contains("--allow-unprotected-listen"))
    }
    let server = try await bench.startServer(
      "--listen", "0.0.0.0:0", "--allow-unprotected-listen", listeners: 2)
    #expect("\(server.addresses[1])".hasPrefix("0.0.0.0:"))
    #expect(try await server.stop() == .code(0))
  }

  @Test func `78: a setting is wrong, or 64: an option is unknown`() async throws {
    expect(try await start(["--log-format": "xml"]), code: 78, "log_format: xml: unknown")
    let run = try await start([:], "--nonsense")
    #expect(run.exit == .code(64))
    #expect(run.errors.hasPrefix("Error: Unknown option '--nonsense'"))
  }
}
