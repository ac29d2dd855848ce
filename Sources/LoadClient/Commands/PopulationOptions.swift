import ArgumentParser
import EntitlementDomain
import Programs
import StoreSimulator

/// The simulated customers. `run` needs the same options as `prepare`.
struct PopulationOptions: ParsableArguments {
  @Option(help: "Number of customers.")
  var customers = 10_000

  @Option(help: "The same seed gives the same customers.")
  var populationSeed: UInt64 = 1

  @Option(
    help: """
      The moment up to which the simulated App Store has signed: RFC 3339, or milliseconds since \
      1970.
      """)
  var at = MomentArgument(BulkCustomers.now)

  func validate() throws {
    guard (1...CallPlan.firstNewCustomer).contains(customers) else {
      throw ValidationError("--customers takes 1 to \(CallPlan.firstNewCustomer)")
    }
  }

  /// - Throws: ``CommandFailure`` when no key can be generated.
  func make() throws -> BulkCustomers {
    do {
      return try BulkCustomers(count: customers, seed: populationSeed, now: at.moment)
    } catch {
      throw CommandFailure(.failed, "the customers cannot be made: \(error)")
    }
  }
}

/// A moment within the range of the simulated clock: RFC 3339, or milliseconds since 1970.
struct MomentArgument: ExpressibleByArgument {
  let moment: Milliseconds

  init(_ moment: Milliseconds) {
    self.moment = moment
  }

  init?(argument: String) {
    guard let moment = Milliseconds(written: argument), SimulatedCalendar.range.contains(moment)
    else { return nil }
    self.moment = moment
  }

  var defaultValueDescription: String { moment.rfc3339 }
}
