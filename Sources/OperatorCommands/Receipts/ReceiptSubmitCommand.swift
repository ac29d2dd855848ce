import ArgumentParser
import EntitlementDomain
import Programs
import RPCClient
import Verification
import Wire

struct ReceiptSubmitCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "submit", abstract: "Submits legacy app receipts (PKCS#7).",
    discussion: """
      Each file is one receipt: DER, or the base64 that apps send. What the server accepts is \
      committed when it answers. Each is a call; when one fails, what was answered before is \
      printed all the same. Exit code 2 when the server refuses one, or a purchase in it.
      """)

  @Argument(help: "Files, or - for stdin.")
  var files: [String]

  @Option(help: "The account that owns the purchases.")
  var account: String?

  @Option(help: "The app that every receipt must be of. Default: any that the server accepts.")
  var bundleID: String?

  @Option(
    help: "The device that every receipt must have been made for: UUID or HEX. Default: any.")
  var deviceIdentifier: DeviceIdentifier?

  @OptionGroup var priority: PriorityOption
  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let receipts = try files.map { path in
      let bytes = try ReceiptFile.contents(
        of: path, limit: SubmitReceiptRequest.maximumReceiptLength)
      let name = ReceiptFile.name(of: path)
      guard ReceiptForm.isReceipt(bytes) else {
        throw CommandFailure(.failed, "\(name): not a receipt: neither DER nor base64 of it")
      }
      return (name: name, bytes: bytes)
    }
    try await ReceiptOutcome.collect(receipts, server: server, output: output) { client, bytes in
      try await client.submitReceipt(
        SubmitReceiptRequest(
          receipt: bytes, bundleID: bundleID.map { BundleID($0) },
          accountID: account.map { AccountID($0) }, deviceIdentifier: deviceIdentifier?.bytes,
          priority: priority.submissionPriority))
    }
  }
}
