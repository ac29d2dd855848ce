import Foundation
import TestSupport
import Testing
import Wire

@Suite("A second server on the file of another", .timeLimit(.minutes(5)))
struct SecondServerTests {
  private let bench: Bench
  private let files = FileManager.default

  init() throws {
    bench = try Bench()
  }

  /// Starts a server on a path. It is expected to exit.
  private func start(_ path: String) async throws -> ProgramRun {
    try await ProgramRun.of(.entitled, bench.serverArguments + ["--store", "sqlite:\(path)"])
  }

  @Test func `is refused by every name of the file, and harms nothing`() async throws {
    let first = try await bench.startServer()
    try await bench.submit(Bench.population(20), to: first)
    let alias = bench.folder.file("alias.sqlite")
    let link = bench.folder.file("link.sqlite")
    try files.createSymbolicLink(atPath: alias, withDestinationPath: bench.databasePath)
    try files.linkItem(atPath: bench.databasePath, toPath: link)
    // A lock file of any name is no part of the lock.
    for name in try files.contentsOfDirectory(atPath: bench.folder.path)
    where name.hasSuffix(".lock") { try files.removeItem(atPath: bench.folder.file(name)) }
    for path in [bench.databasePath, alias, link] {
      #expect(try await start(path).exit == .code(75), "\(path)")
    }
    try await bench.submit(Bench.population(20, seed: 2), to: first)
    let states = try await StateList.read(from: first)
    #expect(try await first.stop() == .code(0))
    // Each name would have a log of its own.
    let refused = try await start(link)
    #expect(refused.exit == .code(73))
    #expect(refused.errors.contains("hard links"))
    try files.removeItem(atPath: link)
    let second = try await bench.startServer()
    #expect(try await StateList.read(from: second) == states)
    #expect(try await second.stop() == .code(0))
  }

  @Test func `is refused when the file was renamed, and on a copy with its former name`()
    async throws
  {
    let first = try await bench.startServer()
    try await bench.submit(Bench.population(5), to: first)
    let moved = bench.folder.file("moved.sqlite")
    try files.moveItem(atPath: bench.databasePath, toPath: moved)
    #expect(try await start(moved).exit == .code(75))
    // It would be a new database with the log of the first one.
    #expect(try await start(bench.databasePath).exit == .code(72))
    try files.copyItem(atPath: moved, toPath: bench.databasePath)
    #expect(try await start(bench.databasePath).exit == .code(75))
    // The first server has noticed: what it wrote would be lost with the file's former name.
    try await eventually {
      try await Bench.control(first, "health").output.hasPrefix("NOT_SERVING")
    }
    first.signal(SIGKILL)
    #expect(try await first.exit() == .signal(SIGKILL))
  }
}
