import ArgumentParser

struct LinkCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "link", abstract: "Which account owns what.",
    discussion: """
      Chains of transactions and app transactions belong to accounts. What customers claim by \
      submitting it, the catalog's link policy decides; what is done here, no policy hinders, and \
      it is audited: who, when and why. Every change may be repeated.
      """,
    subcommands: [
      LinkListCommand.self, LinkHistoryCommand.self, LinkResolveCommand.self, LinkAddCommand.self,
      LinkRemoveCommand.self, LinkTransferCommand.self, LinkMergeCommand.self,
    ])
}
