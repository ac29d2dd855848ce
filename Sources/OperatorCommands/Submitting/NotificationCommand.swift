import ArgumentParser

struct NotificationCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "notification", abstract: "App Store Server Notifications.",
    subcommands: [NotificationSubmitCommand.self])
}
