import EntitlementDomain
import LoadClient
import StoreSimulator
import Wire

/// The measurements of cached reads, in rounds: each server in turn, so that short loads of the
/// machine affect all servers alike.
struct ReadPlan {
  let rounds: Int
  let seconds: Int
  let server: ReadServer
  /// The same with access control.
  let guarded: ReadServer
  let customers: HeldCustomers
  /// The baseline of every ratio.
  let bareEcho: EchoServer
  let nioEcho: EchoServer
  /// The processors of the servers and of the client; equal when there is only one.
  let processors: (server: Int, client: Int)
  let progress: Progress

  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  private static let batchSize = 64
  private static let batchesInFlight = 8
  private static let callsInFlight = 64
  /// The maximum share of answers from the store, as 1 in this number: a state whose next
  /// transition is reached is computed again.
  private static let maximumMisses = 1_000

  private var duration: Duration { .seconds(seconds) }

  /// P1, P2, P3.
  func measure(_ shape: ReadShape) async throws -> Report.Part {
    let requests = try stateRequests(of: .seasonPass)
    let requestsWithToken = try stateRequests(of: .seasonPass, metadata: guarded.metadata)
    // The baseline comes first: the ratios of a round need it.
    let contenders: [(ReadContender, ReadRow.Role)] = [
      (ReadContender(bareEcho, requests), .bound),
      (ReadContender(nioEcho, requests), .other),
      (ReadContender(server, requests), .service),
      (ReadContender(guarded, requestsWithToken), .token),
      (try ReadContender(encrypted: server, requests), .encrypted),
      (try ReadContender(encrypted: guarded, requestsWithToken), .encryptedWithToken),
    ]
    var rows = contenders.map { contender, role in ReadRow(contender.name, shape, role) }
    progress.start(shape.name + ", rounds", of: rounds)
    let missesBefore = try await server.misses + guarded.misses
    var answers = 0
    var lengths = (request: requests.maximumLength, answer: 0)
    for _ in 1...rounds {
      var bound: Double?
      var plain: Double?
      for (index, (contender, role)) in contenders.enumerated() {
        let round = try contender.measure(
          connections: shape.connections, inFlight: shape.inFlight,
          readLength: shape.readLength, for: duration,
          on: shape.quantity == .medianLatency ? processors.server : processors.client)
        let figure = rows[index].add(round, beside: role.isVariant ? plain : bound)
        if role == .bound { bound = figure }
        if role == .service { plain = figure }
        if role == .service || role.isVariant {
          try HeldCustomers.check(answer: round.result.sample)
          answers += round.result.answers
          lengths.answer = round.result.sample.count
        }
      }
      progress.advance(by: 1)
    }
    let misses = Int(try await server.misses + guarded.misses - missesBefore)
    guard misses <= answers / Self.maximumMisses else {
      throw Failure(description: "\(misses) of \(answers) answers did not come from memory")
    }
    progress.end()
    return Report.Part(
      "\(shape.name): \(shape.title); requests of \(lengths.request) bytes, answers of \(lengths.answer)",
      rows.flatMap(\.figures))
  }

  /// Further cached answers.
  func measureOthers() async throws -> Report.Part {
    var rows = try others().map { contender, inFlight in
      OtherRow(contender: contender, inFlight: inFlight)
    }
    progress.start("other answers, rounds", of: rounds)
    for _ in 1...rounds {
      for index in rows.indices {
        let round = try rows[index].contender.measure(
          connections: 1, inFlight: rows[index].inFlight, for: duration, on: processors.client)
        rows[index].time.add(round.processorTime)
        rows[index].rate.add(round.rate)
      }
      progress.advance(by: 1)
    }
    progress.end()
    return Report.Part(
      "Other answers from memory, 1 connection: processor time of the server for each call",
      rows.flatMap { [$0.time, $0.rate] })
  }

  /// Connections with TLS.
  func measureEncrypted() async throws -> Report.Part {
    try await EncryptedConnections(
      server: server, requests: try stateRequests(of: .seasonPass), processor: processors.client,
      rounds: rounds, progress: progress
    ).measure()
  }

  /// Each with its number of requests in flight.
  private func others() throws -> [(ReadContender, Int)] {
    let selectors = customers.selectors(of: .seasonPass)
    let checks = selectors.map {
      CheckEntitlementRequest(customer: $0, scope: BulkCustomers.scope, entitlementID: "season")
    }
    let batches = stride(from: 0, to: selectors.count, by: Self.batchSize).map { start in
      BatchGetCustomerStateRequest(
        customers: Array(selectors[start...].prefix(Self.batchSize)), scope: BulkCustomers.scope)
    }
    return [
      (ReadContender(server, try stateRequests(of: .subscriber)), Self.callsInFlight),
      (
        ReadContender(
          server, try FrameRequests("CheckEntitlement", WireMethods.checkEntitlement, checks)),
        Self.callsInFlight
      ),
      (
        ReadContender(
          server,
          try FrameRequests(
            "BatchGetCustomerState of \(Self.batchSize)", WireMethods.batchGetCustomerState,
            batches)),
        Self.batchesInFlight
      ),
    ]
  }

  private func stateRequests(
    of kind: HeldCustomers.Kind, metadata: [(key: String, value: String)] = []
  ) throws -> FrameRequests {
    let name = kind == .seasonPass ? "GetCustomerState" : "GetCustomerState of subscribers"
    return try FrameRequests(
      metadata.isEmpty ? name : name + " with a token",
      WireMethods.getCustomerState,
      customers.selectors(of: kind).map {
        GetCustomerStateRequest(customer: $0, scope: BulkCustomers.scope)
      }, metadata: metadata)
  }
}

/// The measurement of one kind of call.
private struct OtherRow {
  let contender: ReadContender
  let inFlight: Int
  var time: Figure
  var rate: Figure

  init(contender: ReadContender, inFlight: Int) {
    self.contender = contender
    self.inFlight = inFlight
    let name = "\(contender.name), \(inFlight) in flight"
    time = Figure(name, unit: "µs")
    rate = Figure(name, unit: "calls/s")
  }
}
