import ArgumentParser
import StoreSimulator

// What customers do. Each command is one request of the control interface.

private func body(_ fields: [(String, String?)]) -> JSONObjectWriter {
  var writer = JSONObjectWriter()
  for (name, value) in fields { writer.set(name, value) }
  return writer
}

private let running =
  "Acts on a running `storesim serve`, and posts the notification before it ends."

struct BuyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "buy", abstract: "Buy a product.", discussion: running)

  @Argument(help: "A product of `storesim catalog`, with or without com.example.scribe. before it.")
  var product: String

  @Option(help: "The customer; without this option, or with a new name, a new one.")
  var customer: String?

  @Option(
    help:
      "appAccountToken, a UUID. Later purchases have it too, but those in a chain that has another."
  )
  var appAccountToken: String?

  @Option(help: "An offer: introductory (a week for nothing) or one at half the price.")
  var offer: StoreOffer.Kind?

  @Option(help: "offerIdentifier.")
  var offerID: String?

  @OptionGroup var control: ControlOptions

  func run() async throws {
    let fields = [
      ("productId", ProductArgument.id(product)), ("customer", customer),
      ("appAccountToken", appAccountToken), ("offer", offer?.rawValue), ("offerId", offerID),
    ]
    try await control.run("POST", "buy", body(fields)) { (answer: ActionAnswer) in answer.text }
  }
}

extension StoreOffer.Kind: ExpressibleByArgument {}

enum ProductArgument {
  /// The whole id of a product: the part before it is that of the app.
  static func id(_ text: String) -> String {
    let prefix = "\(SimulatedApp.bundleID)."
    return text.hasPrefix(prefix) ? text : prefix + text
  }
}

struct CancelCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cancel", abstract: "Turn auto-renewal off.", discussion: running)

  @Argument(help: "The customer.") var customer: String
  @OptionGroup var control: ControlOptions

  func run() async throws {
    try await control.run("POST", "cancel", body([("customer", customer)])) {
      (answer: ActionAnswer) in answer.text
    }
  }
}

struct ResumeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "resume", abstract: "Turn auto-renewal on again.", discussion: running)

  @Argument(help: "The customer.") var customer: String
  @OptionGroup var control: ControlOptions

  func run() async throws {
    try await control.run("POST", "resume", body([("customer", customer)])) {
      (answer: ActionAnswer) in answer.text
    }
  }
}

struct UpgradeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "upgrade",
    abstract: "Change the product of a subscription.",
    discussion: """
      The levels of the products decide: to a higher level the change takes place now, else at the \
      next renewal. \(running)
      """,
    aliases: ["downgrade", "crossgrade"])

  @Argument(help: "The customer.") var customer: String
  @Argument(help: "The new product.") var product: String
  @OptionGroup var control: ControlOptions

  func run() async throws {
    let fields = [("customer", customer), ("productId", ProductArgument.id(product))]
    try await control.run("POST", "change", body(fields)) { (answer: ActionAnswer) in answer.text }
  }
}

struct ChangeCardCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "change-card",
    abstract: "Let charges fail from now on, or succeed.",
    discussion: "With --works a charge that is being retried succeeds now. \(running)")

  enum Card: String, EnumerableFlag {
    case fails
    case works
  }

  @Argument(help: "The customer.") var customer: String
  @Flag(help: "Whether charges fail or succeed.") var card: Card
  @OptionGroup var control: ControlOptions

  func run() async throws {
    var fields = body([("customer", customer)])
    fields.set("works", card == .works)
    try await control.run("POST", "card", fields) { (answer: ActionAnswer) in answer.text }
  }
}

struct RaisePriceCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "raise-price", abstract: "Ask a subscriber for consent to a higher price.",
    discussion: "Without `storesim consent` the subscription ends at its renewal. \(running)")

  @Argument(help: "The customer.") var customer: String
  @Argument(help: "The new price, in thousandths of the currency's unit.") var price: Int64
  @OptionGroup var control: ControlOptions

  func run() async throws {
    var fields = body([("customer", customer)])
    fields.set("price", price)
    try await control.run("POST", "raise-price", fields) { (answer: ActionAnswer) in answer.text }
  }
}

struct ConsentCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "consent", abstract: "Consent to a higher price.", discussion: running)

  @Argument(help: "The customer.") var customer: String
  @OptionGroup var control: ControlOptions

  func run() async throws {
    try await control.run("POST", "consent", body([("customer", customer)])) {
      (answer: ActionAnswer) in answer.text
    }
  }
}

struct ShareCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "share", abstract: "Share a subscription with a family member.",
    discussion: running)

  @Argument(help: "The customer who pays.") var customer: String

  @Option(name: .customLong("with"), help: "The member; without it, or with a new name, a new one.")
  var member: String?

  @OptionGroup var control: ControlOptions

  func run() async throws {
    try await control.run("POST", "share", body([("customer", customer), ("with", member)])) {
      (answer: ActionAnswer) in answer.text
    }
  }
}

struct StopSharingCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stop-sharing", abstract: "End sharing with a family member.", discussion: running)

  @Argument(help: "The member, who does not pay.") var customer: String
  @OptionGroup var control: ControlOptions

  func run() async throws {
    try await control.run("POST", "unshare", body([("customer", customer)])) {
      (answer: ActionAnswer) in answer.text
    }
  }
}

struct RefundCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "refund", abstract: "Refund a transaction, or decide otherwise.",
    discussion: running)

  enum Decision: String, EnumerableFlag {
    case decline
    case reverse
  }

  @Argument(help: "The id of the transaction.") var transaction: String
  @Flag(help: "Decline the refund, or reverse an earlier one.") var decision: Decision?
  @OptionGroup var control: ControlOptions

  func run() async throws {
    let path = decision.map { "refund-\($0.rawValue)" } ?? "refund"
    try await control.run("POST", path, body([("transactionId", transaction)])) {
      (answer: ActionAnswer) in answer.text
    }
  }
}

struct RequestConsumptionCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "request-consumption",
    abstract: "Ask the developer about consumption, as when a customer wants a refund.",
    discussion: running)

  @Argument(help: "The id of the transaction.") var transaction: String
  @Option(help: "consumptionRequestReason.") var reason: String?
  @OptionGroup var control: ControlOptions

  func run() async throws {
    let fields = body([("transactionId", transaction), ("reason", reason)])
    try await control.run("POST", "request-consumption", fields) {
      (answer: ActionAnswer) in answer.text
    }
  }
}
