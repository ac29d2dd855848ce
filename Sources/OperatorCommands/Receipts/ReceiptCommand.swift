import ArgumentParser

struct ReceiptCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "receipt", abstract: "Legacy app receipts, and archived responses to them.",
    subcommands: [ReceiptSubmitCommand.self, ReceiptImportCommand.self])
}
