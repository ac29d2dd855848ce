import ArgumentParser
import EntitlementDomain
import Programs
import RPCClient
import Verification
import Wire

struct ReceiptImportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import", abstract: "Imports archived responses of Apple's former verifyReceipt.",
    discussion: """
      Each file is one response, in JSON. Nobody signed it: what it says weighs less than whatever \
      Apple signed, takes no purchase from another account, and is marked in every answer. A \
      receipt itself, such as the response's latest_receipt, is better evidence: receipt submit \
      takes it. Each is a call; when one fails, what was answered before is printed all the same. \
      It fails unless the server's catalog says archived_responses: accept for the app. Exit code \
      2 when the server refuses a response, or a purchase in it.
      """)

  @Argument(help: "Files, or - for stdin.")
  var files: [String]

  @Option(help: "The app that every response must be of.")
  var bundleID: String

  @Option(help: "The account that owns the purchases.")
  var account: String?

  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let responses = try files.map { path in
      let bytes = try ReceiptFile.contents(
        of: path, limit: ImportArchivedResponseRequest.maximumResponseLength)
      let name = ReceiptFile.name(of: path)
      if ReceiptForm.isReceipt(bytes) {
        throw CommandFailure(.failed, "\(name): a receipt: receipt submit takes it")
      }
      return (name: name, bytes: bytes)
    }
    try await ReceiptOutcome.collect(responses, server: server, output: output) { client, bytes in
      try await client.importArchivedResponse(
        ImportArchivedResponseRequest(
          bundleID: BundleID(bundleID), accountID: account.map { AccountID($0) }, response: bytes))
    }
  }
}
