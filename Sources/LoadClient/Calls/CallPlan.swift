import StoreSimulator

/// What is called: the same for every thread of a run.
struct CallPlan: Sendable {
  let customers: BulkCustomers
  let mix: CallMix
  let choice: CustomerChoice
  /// Customers in one batch.
  let batchSize: Int
  /// Of each call.
  let timeout: Duration
  /// Signs what is handed in; nil when the mix does not need it.
  let authority: SigningAuthority?
  let seed: UInt64
  let threads: Int

  /// A population is at most as large; customers from here on are new. There are as many.
  static let firstNewCustomer = Population.maximumCount / 2

  /// The new customers of one thread, each once: they begin at a place that the seed chooses, so that
  /// runs with other seeds have others.
  func newCustomer(_ number: Int, ofThread thread: Int) -> Int {
    var generator = SeededGenerator(seed: seed, label: "new customers")
    let start = generator.number(below: Self.firstNewCustomer)
    let offset = (start + number * threads + thread) % Self.firstNewCustomer
    return Self.firstNewCustomer + offset
  }
}
