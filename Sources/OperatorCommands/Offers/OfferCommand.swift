import ArgumentParser

struct OfferCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "offer",
    abstract: "Offers of subscriptions: who may have which, and their signatures.",
    discussion: """
      The catalog lists the offers of each product and who may have them. A signature is for one \
      purchase attempt, and its holder can use it: it belongs into the app of that customer, and \
      nowhere else. Each one is in the audit trail.
      """,
    subcommands: [
      OfferListCommand.self, OfferSignCommand.self, OfferIntroductoryCommand.self,
    ])
}
