import ArgumentParser
import EntitlementDomain
import Foundation
import Glibc
import LoadClient

/// Cached reads, compared with a server that does nothing (P1, P2, P3).
struct ReadBenchmark: AsyncParsableCommand, ReportingBenchmark {
  static let configuration = CommandConfiguration(
    commandName: "read", abstract: "Cached reads, compared with a server that does nothing.")

  @Option(help: "How often each is measured, in turn; the median is printed.")
  var rounds = 7

  @Option(help: "How long a measurement in a round lasts, in seconds.")
  var seconds = 2

  @Option(help: "Measure only this.")
  var only: Part?

  @OptionGroup var output: ReportOptions

  enum Part: String, CaseIterable, ExpressibleByArgument {
    case pipelined, lockstep, single, connections, others, encrypted, memory, start

    /// The other parts start with their own servers and customers.
    var isFromMemory: Bool { self != .memory && self != .start }
  }

  func validate() throws {
    guard (1...1_000).contains(rounds) else { throw ValidationError("--rounds takes 1 to 1000") }
    guard (1...60).contains(seconds) else { throw ValidationError("--seconds takes 1 to 60") }
  }

  func run() async throws { try await output.write(self) }

  func measure() async throws -> [Report.Part] {
    // A server that has ended is reported by the error of the write.
    signal(SIGPIPE, SIG_IGN)
    var parts: [Report.Part] = []
    if only?.isFromMemory ?? true { parts += try await measureHeld() }
    if !(only?.isFromMemory ?? false) {
      let stress = try StressBenchmark.parse(
        ["--rounds", "\(rounds)", "--seconds", "\(seconds)"])
      for part in StressBenchmark.Part.ofReads
      where only.map({ $0.rawValue == part.rawValue }) ?? true {
        parts += try await stress.measure([part])
      }
    }
    return parts
  }

  /// Cached answers of a server.
  private func measureHeld() async throws -> [Report.Part] {
    let progress = Progress(indentation: "         ")
    let available = ProcessorAffinity.available
    let processors = (
      server: available[0], client: available.count > 1 ? available[1] : available[0]
    )
    if available.count == 1 {
      progress.say("there is one processor: server and client share it")
    }
    let bareEcho = try EchoServer(.bare, on: processors.server)
    let nioEcho = try EchoServer(.nio, on: processors.server)
    let customers = try HeldCustomers(
      now: Milliseconds(Int64(Date().timeIntervalSince1970 * 1_000)))
    let server = try await ReadServer(customers, on: processors.server)
    let guarded = try await ReadServer(customers, wantsToken: true, on: processors.server)
    let plan = ReadPlan(
      rounds: rounds, seconds: seconds, server: server, guarded: guarded, customers: customers,
      bareEcho: bareEcho, nioEcho: nioEcho, processors: processors, progress: progress)
    var parts: [Report.Part] = []
    func add(_ part: Part, _ measure: () async throws -> Report.Part) async throws {
      guard only ?? part == part else { return }
      let measured = try await measure()
      measured.print()
      fflush(nil)
      parts.append(measured)
    }
    try await add(.pipelined) { try await plan.measure(.pipelined) }
    try await add(.lockstep) { try await plan.measure(.lockstep) }
    try await add(.single) { try await plan.measure(.single) }
    try await add(.connections) { try await plan.measure(.connections) }
    try await add(.others) { try await plan.measureOthers() }
    try await add(.encrypted) { try await plan.measureEncrypted() }
    try await server.stop()
    try await guarded.stop()
    return parts
  }
}
