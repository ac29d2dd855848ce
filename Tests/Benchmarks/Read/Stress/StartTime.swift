import LoadClient

/// From the start of the program to its first answer, with an existing database (P9).
struct StartTime {
  let plan: StressPlan

  func measure() async throws -> [Figure] {
    var stores = [("SQLite", try await plan.sqlite(plan.customers.count))]
    if let postgres = plan.postgres { stores.append(("PostgreSQL", postgres)) }
    let size = BenchmarkDatabase.size(of: plan.customers.count)
    var figures = stores.map {
      Figure(
        "start to first answer, \($0.0), \(size) customers",
        unit: "ms", target: .atMost(1_000))
    }
    plan.progress.start("P9, rounds", of: plan.rounds)
    for round in 0..<plan.rounds {
      for (index, (_, store)) in stores.enumerated() {
        figures[index].add(try await ServerStart(store: store, customer: round).milliseconds)
      }
      plan.progress.advance(by: 1)
    }
    plan.progress.end()
    return figures
  }
}
