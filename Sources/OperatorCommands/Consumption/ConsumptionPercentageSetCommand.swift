import ArgumentParser
import EntitlementDomain
import Programs
import RPCClient
import Wire

struct ConsumptionPercentageSetCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "set", abstract: "Records how much of a purchase is consumed.",
    discussion: """
      It replaces what was recorded of the purchase before, also its delivery. A request of the App \
      Store that waits for it goes on at once.
      """)

  @Argument(help: "The purchase, by its own transaction id.")
  var transaction: String

  @Argument(help: "0 to 100, with at most three decimals, or none.")
  var percentage: PercentageArgument

  @Option(help: "Whether it was delivered: \(DeliveryName.list). Default: as the catalog says.")
  var delivery: DeliveryName?

  @OptionGroup var audit: JobAuditOptions
  @OptionGroup var app: AppOptions
  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if transaction.isEmpty { throw ValidationError("the transaction id is empty") }
  }

  func run() async throws {
    let scope = try await app.scope(on: server)
    let request = SetConsumptionPercentageRequest(
      scope: scope, transactionID: TransactionID(transaction), percentage: percentage.thousandths,
      delivery: delivery?.delivery, onBehalfOf: audit.onBehalfOf, reason: audit.reason)
    let response = try await server.withClient { try await $0.setConsumptionPercentage(request) }
    try output.write(response) { $0.isChanged ? "recorded" : "nothing changed" }
  }
}

/// A percentage on the command line.
struct PercentageArgument: ExpressibleByArgument {
  /// Nil: none.
  let thousandths: Int64?

  init?(argument: String) {
    if argument == "none" {
      thousandths = nil
    } else {
      guard let thousandths = ConsumptionPercentage.thousandths(argument) else { return nil }
      self.thousandths = thousandths
    }
  }
}

/// Whether a purchase was delivered, on the command line.
enum DeliveryName: String, ExpressibleByArgument, CaseIterable {
  case delivered
  case qualityIssue = "quality-issue"
  case wrongItem = "wrong-item"
  case serverOutage = "server-outage"
  case other

  /// For help.
  static let list = allCases.map(\.rawValue).joined(separator: ", ")

  var delivery: ConsumptionDelivery {
    switch self {
    case .delivered: .delivered
    case .qualityIssue: .undeliveredQualityIssue
    case .wrongItem: .undeliveredWrongItem
    case .serverOutage: .undeliveredServerOutage
    case .other: .undeliveredOther
    }
  }
}
