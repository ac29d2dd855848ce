import ArgumentParser

struct GrantCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "grant", abstract: "Entitlements given outside the App Store.",
    discussion: """
      A grant confers an entitlement on an account for a time. It never touches what was bought, \
      and withdrawing it takes nothing away that a purchase confers.
      """,
    subcommands: [GrantAddCommand.self, GrantWithdrawCommand.self, GrantListCommand.self])
}
