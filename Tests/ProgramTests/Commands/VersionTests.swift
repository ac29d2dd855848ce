import Foundation
import Programs
import RPCClient
import Testing
import Wire

@Suite("The version of the programs", .timeLimit(.minutes(5)))
struct VersionTests {
  private let bench: Bench

  init() throws {
    bench = try Bench()
  }

  @Test func `it has the form of Semantic Versioning 2.0.0`() {
    let form = /(0|[1-9]\d*)(\.(0|[1-9]\d*)){2}(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?/
    #expect(ProgramVersion.current.wholeMatch(of: form) != nil)
  }

  @Test(
    "Each program prints its name and the common version",
    arguments: [Program.entitled, .entitlectl, .storesim, .entitleLoad])
  func option(program: Program) async throws {
    let run = try await ProgramRun.of(program, ["--version"])
    #expect(run.exit == .code(0))
    #expect(run.output == "\(program.rawValue) \(ProgramVersion.current)\n")
    #expect(run.errors == "")
    let help = try await ProgramRun.of(program, ["--help"])
    #expect(help.exit == .code(0))
    #expect(help.output.contains(" --version "))
  }

  @Test func `a server has it in the first line of its log, its health and its statistics`()
    async throws
  {
    let server = try await bench.startServer()
    let first = try #require(try server.log.first)
    #expect(first.message == "starting")
    #expect(first.version == ProgramVersion.current)
    let client = try await server.client()
    #expect(try await client.health().version == ProgramVersion.current)
    #expect(try await client.statistics().version == ProgramVersion.current)
    await client.close()
    #expect(try await server.stop() == .code(0))
  }

  @Test func `health shows which server it is, also under a node's name of its own`() async throws {
    let host = try String(contentsOfFile: "/proc/sys/kernel/hostname", encoding: .utf8)
      .trimmingCharacters(in: .newlines)
    for (arguments, name) in [([], host), (["--node-name", "scribe-2"], "scribe-2")] {
      let server = try await RunningServer.start(bench.serverArguments + arguments)
      let run = try await Bench.control(server, "health", "--output", "json")
      #expect(run.exit == .code(0))
      let document = try run.document(JSONTree.self)
      #expect(document["status"]?.text == "SERVING")
      #expect(document["version"]?.text == ProgramVersion.current)
      let shown = document["server"]
      #expect(shown?["version"]?.text == ProgramVersion.current)
      #expect(shown?["nodeName"]?.text == name)
      #expect(shown?["storeKind"]?.text == "STORE_KIND_SQLITE")
      let client = try await server.client()
      #expect(shown?["catalogDigest"]?.text == (try await client.catalog().digest))
      await client.close()
      let text = try await Bench.control(server, "health")
      #expect(text.output.hasPrefix(Bench.serving + "node            \(name)\n"))
      #expect(try server.log.first?.node == name)
      #expect(try await server.stop() == .code(0))
    }
  }

  @Test(
    "A name of a node has 1 to 256 bytes",
    arguments: [
      ("", false), ("n", true), (String(repeating: "n", count: 256), true),
      (String(repeating: "n", count: 257), false),
    ])
  func nodeName(name: String, isValid: Bool) async throws {
    let run = try await ProgramRun.of(
      .entitled, bench.serverArguments + ["--node-name", name, "--check-config"])
    #expect(run.exit == .code(isValid ? 0 : 78))
    #expect(
      isValid ? run.output.contains("\nnode_name: \(name)\n") : run.errors.contains("node_name: "))
  }
}
