import ArgumentParser

struct ConsumptionCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "consumption",
    abstract: "What the App Store is told when a customer asks for a refund.",
    discussion: """
      The App Store asks about a purchase (CONSUMPTION_REQUEST) and takes an answer within 12 hours. \
      The server sends it by itself, if the customer consented and the catalog has a policy for the \
      product. These commands show what happened, record consent and percentages, and send by hand \
      what was not sent.
      """,
    subcommands: [
      ConsumptionListCommand.self, ConsumptionShowCommand.self, ConsumptionSendCommand.self,
      ConsumptionConsentCommand.self, ConsumptionPercentageCommand.self,
    ])
}

struct ConsumptionConsentCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "consent", abstract: "Whether a customer consents.",
    subcommands: [ConsumptionConsentGetCommand.self, ConsumptionConsentSetCommand.self])
}

struct ConsumptionPercentageCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "percentage", abstract: "How much of a purchase is consumed.",
    subcommands: [ConsumptionPercentageSetCommand.self])
}
