import ArgumentParser
import EntitlementDomain
import Foundation
import Glibc
import LoadClient
import NIOCore
import StoreSimulator
import TestSupport
import Wire

/// Calls by HTTP, compared with a server that does nothing, and notifications at a rate.
struct HTTPBenchmark: AsyncParsableCommand, ReportingBenchmark {
  static let configuration = CommandConfiguration(
    commandName: "http",
    abstract: "Calls by HTTP, compared with a server that does nothing, and notifications.")

  @Option(help: "How often each is measured, in turn; the median is printed.")
  var rounds = 7

  @Option(help: "How long a measurement in a round lasts, in seconds.")
  var seconds = 2

  @Option(
    help: ArgumentHelp(
      "Also measure another server of this machine, which answers each POST / with 200.",
      valueName: "port:process"))
  var beside: OtherServer?

  @OptionGroup var output: ReportOptions

  struct OtherServer: ExpressibleByArgument {
    let port: UInt16
    let process: pid_t

    init?(argument: String) {
      let parts = argument.split(separator: ":")
      guard parts.count == 2, let port = UInt16(parts[0]), let process = pid_t(parts[1]) else {
        return nil
      }
      self.port = port
      self.process = process
    }
  }

  private static let connections = 64
  private static let notificationsPerSecond = 1_000
  private static let repeats = 20_000

  func validate() throws {
    guard (1...1_000).contains(rounds) else { throw ValidationError("--rounds takes 1 to 1000") }
    guard (1...60).contains(seconds) else { throw ValidationError("--seconds takes 1 to 60") }
  }

  func run() async throws { try await output.write(self) }

  func measure() async throws -> [Report.Part] {
    // A server that has ended is reported by the error of the write.
    signal(SIGPIPE, SIG_IGN)
    let (calls, answer) = try await measureCalls()
    calls.print()
    let conversion = try measureConversion(of: answer)
    conversion.print()
    fflush(nil)
    let webhook = try await measureWebhook()
    webhook.print()
    return [calls, conversion, webhook]
  }

  // MARK: Calls

  private struct Contender {
    let name: String
    let port: UInt16
    let process: pid_t
    let requests: [[UInt8]]
  }

  private static func post(_ path: String, type: String, _ body: [UInt8]) -> [UInt8] {
    Array(
      """
      POST \(path) HTTP/1.1\r\nhost: localhost\r\ncontent-type: \(type)\r\n\
      content-length: \(body.count)\r\n\r\n
      """.utf8) + body
  }

  private static let method = "/entitle.v1.EntitlementService/GetCustomerState"

  private static func json(_ account: AccountID) -> [UInt8] {
    Array(
      """
      {"customer":{"accountId":"\(account)"},"bundleId":"\(BulkCustomers.scope.bundleID)"}
      """.utf8)
  }

  /// Processor time of the server for each call: 64 connections, one call in flight on each.
  ///
  /// - Returns: also an answer in protobuf.
  private func measureCalls() async throws -> (Report.Part, answer: ByteBuffer) {
    let available = ProcessorAffinity.available
    let customers = try HeldCustomers(
      now: Milliseconds(Int64(Date().timeIntervalSince1970 * 1_000)))
    let server = try await ReadServer(customers, on: available[0])
    let echo = try EchoServer(.http, on: available[0])
    let selectors = customers.selectors(of: .subscriber)
    let accounts = selectors.compactMap { selector -> AccountID? in
      guard case .account(let account) = selector else { return nil }
      return account
    }
    let json = accounts.map {
      Self.post(Self.method, type: "application/json", Self.json($0))
    }
    let proto = try selectors.map {
      Self.post(
        Self.method, type: "application/proto",
        Array(
          try GetCustomerStateRequest(customer: $0, scope: BulkCustomers.scope).encoded()
            .readableBytesView))
    }
    var contenders = [
      Contender(
        name: "swift-nio, empty", port: echo.port, process: echo.process,
        requests: accounts.map { Self.post("/", type: "application/json", Self.json($0)) })
    ]
    if let beside {
      contenders.append(
        Contender(
          name: "the other server, empty", port: beside.port, process: beside.process,
          requests: contenders[0].requests))
    }
    let service = server.process.identifier
    contenders += [
      Contender(
        name: "entitled, JSON", port: server.httpPort, process: service, requests: json),
      Contender(
        name: "entitled, proto", port: server.httpPort, process: service, requests: proto),
    ]
    var times = contenders.map { Figure($0.name, unit: "µs") }
    var ratios = contenders.dropFirst().map { Figure($0.name, unit: "× swift-nio") }
    var sample: [UInt8] = []
    for _ in 0..<rounds {
      var bound = 0.0
      for (index, contender) in contenders.enumerated() {
        let time: Double
        (time, sample) = try measure(contender, on: available.last ?? 0)
        times[index].add(time)
        if index == 0 { bound = time } else { ratios[index - 1].add(time / bound) }
      }
    }
    try await server.stop()
    let part = Report.Part(
      "64 connections, 1 in flight each: processor time of the server for each call",
      times + ratios)
    // The last one answers in protobuf.
    return (part, ByteBuffer(bytes: sample))
  }

  private func measure(
    _ contender: Contender, on processor: Int
  ) throws -> (microseconds: Double, sample: [UInt8]) {
    try ProcessorAffinity.with(processor) {
      var load = try HTTPLoad(
        port: contender.port, connections: Self.connections, requests: contender.requests)
      _ = try load.run(for: .milliseconds(200))
      let before = ProcessorTime.used(by: contender.process)
      let result = try load.run(for: .seconds(seconds))
      let used = ProcessorTime.used(by: contender.process) - before
      return (used / Double(result.answers), result.sample)
    }
  }

  // MARK: Conversion

  /// A state of about 500 bytes to JSON, and its request from JSON.
  private func measureConversion(of sample: ByteBuffer) throws -> Report.Part {
    guard
      let method = WireMethods.all.first(where: { Self.method == "/\($0.service)/\($0.name)" })
    else { preconditionFailure("the method exists") }
    let request = Self.json(BulkCustomers.account(at: 1))
    var state = Figure(
      "state of \(sample.readableBytes) bytes to JSON", unit: "µs", target: .atMost(8))
    var asked = Figure("its request from JSON", unit: "µs")
    for _ in 0..<rounds {
      // They are converted once more below, so they can be.
      state.values.addRound(repeats: Self.repeats) { _ = try? method.response.json(of: sample) }
      asked.values.addRound(repeats: Self.repeats) {
        _ = try? method.request.wire(ofJSON: request)
      }
    }
    _ = try method.request.wire(ofJSON: request)
    _ = try method.response.json(of: sample)
    return Report.Part("Conversion between protobuf and JSON", [state, asked])
  }

  // MARK: Notifications

  /// Distinct notifications at a rate, each durable before its answer.
  private func measureWebhook() async throws -> Report.Part {
    let authority = try SigningAuthority.generate()
    let count = Self.notificationsPerSecond * seconds * rounds
    Progress(indentation: "         ").say("signing \(count) notifications")
    let bodies = try Self.notifications(count, by: authority)
    let folder = try TemporaryFolder()
    let process = try await EntitledProcess(
      store: "sqlite:\(folder.file("store.sqlite"))", listener: .tcp,
      arguments: [
        "--trust-root", "\(authority.rootFingerprint)", "--webhook-listen", "127.0.0.1:0",
      ],
      listeners: 2)
    var median = Figure("median, from when it was due", unit: "ms")
    var last = Figure("99th percentile", unit: "ms", target: .atMost(100))
    var rate = Figure("answers", unit: "a second")
    var load = try HTTPLoad(
      port: try process.port(of: "webhook"), connections: Self.connections, requests: bodies)
    for _ in 0..<rounds {
      let result = try load.run(
        for: .seconds(seconds), rate: Double(Self.notificationsPerSecond))
      median.add(result.latency(percentile: 50) / 1_000)
      last.add(result.latency(percentile: 99) / 1_000)
      rate.add(Double(result.answers) / result.seconds)
    }
    try process.stop()
    return Report.Part(
      "\(Self.notificationsPerSecond) notifications a second on 64 connections, SQLite",
      [median, last, rate])
  }

  private static func notifications(
    _ count: Int, by authority: SigningAuthority
  ) throws -> [[UInt8]] {
    let population = Population(
      seed: 1, count: Population.maximumCount,
      now: Milliseconds(Int64(Date().timeIntervalSince1970 * 1_000)), environment: .sandbox)
    var requests: [[UInt8]] = []
    for index in 0..<population.count where requests.count < count {
      let timeline = population.customer(at: index).timeline
      for event in try authority.sign(timeline.history(until: population.now)) {
        guard let notification = event.notification else { continue }
        requests.append(
          post(
            "/apple/notifications", type: "application/json",
            Array("{\"signedPayload\":\"\(notification)\"}".utf8)))
      }
    }
    return Array(requests.prefix(count))
  }
}
