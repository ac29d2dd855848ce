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
}
