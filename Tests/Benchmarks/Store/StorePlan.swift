import EntitlementDomain
import EntitlementStore
import Glibc
import LoadClient
import Logging
import PostgresStore

/// The measurements, in rounds: each thing in turn, so that short loads of the machine affect all
/// of them alike.
struct StorePlan {
  let rounds: Int
  let seconds: Int
  let progress: Progress

  /// Calls in flight.
  private static let inFlight = 64
  /// Prepared before a round of submissions. The round ends with the last one.
  private static let submissionsPerRound = 20_000

  private var duration: Duration { .seconds(seconds) }

  /// P5.
  func measureReads(of database: BenchmarkDatabase) async throws -> StoreTable {
    let configuration = PostgresStoreConfiguration(connection: database.uri)
    let store = try await open(configuration)
    let script = try await ReadScript.script(of: store, on: database)
    let connections = configuration.limits.readingConnections
    let bench = PgBench(database: database.psql, connections: connections)
    let load = ReadLoad(store: store, customers: database.customers)
    let server = try await ServerLoad(on: database)
    let databaseTime = ServerProcessorTime(database.psql)

    var bound = StoreRow("pgbench, the same query prepared")
    var inProcess = StoreRow("reader and store, in process", target: .atLeast(0.8))
    var whole = StoreRow("entitled, over a Unix socket", target: .atLeast(0.8))
    // Before the measurement, statements are prepared and the caches of the database are filled.
    _ = try bench.run(script, seconds: seconds)
    _ = try await load.run(inFlight: Self.inFlight, for: duration, seed: 0)
    _ = try await server.run(inFlight: Self.inFlight, for: duration, seed: 0)
    progress.start("P5, rounds of reads", of: rounds)
    for round in 1...rounds {
      let seed = UInt64(round)
      var before = databaseTime?.used
      let (count, rate, processorTime) = try bench.run(script, seconds: seconds)
      bound.figures.add(rate)
      bound.clientTimes.add(processorTime / Double(count))
      bound.addDatabaseTime(databaseTime, since: before, count: count)

      before = databaseTime?.used
      var clientBefore = ProcessorTime.used
      let reads = try await load.run(inFlight: Self.inFlight, for: duration, seed: seed).count
      inProcess.clientTimes.add((ProcessorTime.used - clientBefore) / Double(reads))
      inProcess.addDatabaseTime(databaseTime, since: before, count: reads)
      inProcess.add(Double(reads) / Double(seconds), beside: rate)

      before = databaseTime?.used
      clientBefore = ProcessorTime.used
      let serverBefore = server.processorTime
      let calls = try await server.run(inFlight: Self.inFlight, for: duration, seed: seed)
      whole.clientTimes.add((ProcessorTime.used - clientBefore) / Double(calls))
      whole.serverTimes.add((server.processorTime - serverBefore) / Double(calls))
      whole.addDatabaseTime(databaseTime, since: before, count: calls)
      whole.add(Double(calls) / Double(seconds), beside: rate)
      progress.advance(by: 1)
    }
    progress.end()
    try await server.stop()
    await store.close()
    return StoreTable(
      title: """
        P5: reads of random customers that are not in memory, \(database.size) customers, \
        \(connections) connections, \(Self.inFlight) in flight
        """,
      unit: "reads/s", bound: "pgbench", rows: [bound, inProcess, whole])
  }

  /// P8.
  func measureSizes(few: BenchmarkDatabase, many: BenchmarkDatabase) async throws -> StoreTable {
    let databases = [few, many]
    var loads: [ReadLoad] = []
    for database in databases {
      let store = try await open(PostgresStoreConfiguration(connection: database.uri))
      loads.append(ReadLoad(store: store, customers: database.customers))
    }
    var rows = [
      StoreRow("\(few.size) customers"), StoreRow("\(many.size) customers", target: .atMost(1.3)),
    ]
    for load in loads { _ = try await load.run(inFlight: 1, for: duration, seed: 0) }
    progress.start("P8, rounds of single reads", of: rounds)
    for round in 1...rounds {
      var middle: [Double] = []
      for load in loads {
        let times = try await load.run(inFlight: 1, for: duration, seed: UInt64(round))
        middle.append(times.sorted()[times.count / 2])
      }
      rows[0].figures.add(middle[0])
      rows[1].add(middle[1], beside: middle[0])
      progress.advance(by: 1)
    }
    progress.end()
    for load in loads { await load.store.close() }
    return StoreTable(
      title: "P8: p50 of a read of a random customer that is not in memory, one at a time",
      unit: "µs", bound: few.size, rows: rows)
  }

  /// P9.
  func measureStart(few: BenchmarkDatabase, many: BenchmarkDatabase) async throws -> Report.Part {
    let databases = [few, many]
    var times = databases.map {
      Figure("start to first answer, \($0.size) customers", unit: "ms", target: .atMost(1_000))
    }
    var resident = databases.map { Figure("resident memory, \($0.size) customers", unit: "MB") }
    var own = databases.map { Figure("own memory, \($0.size) customers", unit: "MB") }
    progress.start("P9, rounds", of: rounds)
    for round in 0..<rounds {
      for (index, database) in databases.enumerated() {
        let start = try await ServerStart(store: database.uri, customer: round)
        times[index].add(start.milliseconds)
        resident[index].add(start.residentMegabytes)
        own[index].add(start.ownMegabytes)
      }
      progress.advance(by: 1)
    }
    progress.end()
    return Report.Part("P9: start, and memory after the first answer", times + resident + own)
  }

  /// P6.
  func measureSubmissions(
    to database: BenchmarkDatabase, on server: BenchmarkServer
  ) async throws -> StoreTable {
    let configuration = PostgresStoreConfiguration(connection: database.uri)
    let connections = configuration.limits.writingConnections
    let store = try await open(configuration)
    var used = try SubmissionLoad.used(in: database)
    func submissions() throws -> [Submission] {
      defer { used += Self.submissionsPerRound }
      return try SubmissionLoad.submissions(
        of: database.customers, count: Self.submissionsPerRound, after: used)
    }
    let sample = try await SampleRows(of: try submissions()[0], on: server)
    let bench = PgBench(database: database.psql, connections: connections)
    let databaseTime = ServerProcessorTime(database.psql)

    var bound = StoreRow("pgbench, \(sample.count) rows a transaction")
    var grouped = StoreRow("store, in process", target: .atLeast(1.5))
    progress.start("P6, rounds of submissions", of: rounds)
    // The first round only warms up.
    for round in 0...rounds {
      var before = databaseTime?.used
      let (count, rate, processorTime) = try bench.run(
        sample.script, variables: ["number": 0, "first": Self.firstIdentifier(inRound: round)],
        seconds: seconds)
      let load = SubmissionLoad(store: store, submissions: try submissions())
      if round > 0 {
        bound.figures.add(rate)
        bound.clientTimes.add(processorTime / Double(count))
        bound.addDatabaseTime(databaseTime, since: before, count: count)
      }

      before = databaseTime?.used
      let clientBefore = ProcessorTime.used
      let taken = try await load.run(inFlight: Self.inFlight)
      if round > 0 {
        let count = load.submissions.count
        grouped.clientTimes.add((ProcessorTime.used - clientBefore) / Double(count))
        grouped.addDatabaseTime(databaseTime, since: before, count: count)
        grouped.add(Double(count) / taken, beside: rate)
        progress.advance(by: 1)
      }
    }
    progress.end()
    await store.close()
    return StoreTable(
      title: """
        P6: durable submissions of one new purchase each, \(database.size) customers, \
        \(connections) writing connections, \(Self.inFlight) in flight, \
        fsync \(try database.setting("fsync")), \
        synchronous_commit \(try database.setting("synchronous_commit"))
        """,
      unit: "facts/s", bound: "pgbench", rows: [bound, grouped])
  }

  private func open(_ configuration: PostgresStoreConfiguration) async throws -> PostgresStore {
    var logger = Logger(label: "benchmark")
    logger.logLevel = .warning
    return try await PostgresStore.open(configuration, logger: logger)
  }

  /// Identifiers of 19 digits, different in each round and each run: a run takes more than a
  /// second, and a round has less than 100 million identifiers.
  private static func firstIdentifier(inRound round: Int) -> Int64 {
    8_000_000_000_000_000_000 + Int64(time(nil) % 1_000_000) * 1_000_000_000_000
      + Int64(round) * 100_000_000
  }
}

extension StoreRow {
  mutating func add(_ figure: Double, beside bound: Double) {
    figures.add(figure)
    ratios.add(figure / bound)
  }

  mutating func addDatabaseTime(_ time: ServerProcessorTime?, since before: Double?, count: Int) {
    guard let time, let before else { return }
    databaseTimes.add((time.used - before) / Double(count))
  }
}
