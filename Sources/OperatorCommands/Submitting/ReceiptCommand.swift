import AppStorePayloads
import ArgumentParser
import EntitlementDomain
import Programs
import RPCClient
import Verification
import Wire

struct ReceiptCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "receipt", abstract: "Legacy app receipts, and archived responses to them.",
    subcommands: [ReceiptSubmitCommand.self, ReceiptImportCommand.self])
}

struct ReceiptSubmitCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "submit", abstract: "Submits legacy app receipts (PKCS#7).",
    discussion: """
      Each file is one receipt: DER, or the base64 that apps send. Accepted purchases are \
      committed when the server answers. Each receipt is one call; when a call fails, earlier \
      results are still printed. Exit code 2 when the server refuses a receipt, or a purchase in \
      it.
      """)

  @Argument(help: "Files, or - for stdin.")
  var files: [String]

  @Option(help: "The account that owns the purchases.")
  var account: String?

  @Option(
    help: "The anonymous account that the customer used before; it is merged into --account.")
  var anonymousAccount: String?

  @Option(
    name: .app,
    help: "The app that all receipts must belong to. Default: any that the server accepts.")
  var bundleID: String?

  @Option(
    help: "The device that all receipts must be for: UUID or HEX. Default: any.")
  var deviceIdentifier: DeviceIdentifier?

  @OptionGroup var priority: PriorityOption
  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if anonymousAccount != nil, account == nil {
      throw ValidationError("--anonymous-account needs --account")
    }
  }

  func run() async throws {
    let receipts = try files.map { path in
      let bytes = try ReceiptFile.contents(
        of: path, limit: SubmitReceiptRequest.maximumReceiptLength)
      let name = ReceiptFile.name(of: path)
      guard ReceiptForm.isReceipt(bytes) else {
        let detail = MisplacedDocument(bytes)?.detail(at: .receipt)
        throw CommandFailure(
          .failed, "\(name): \(detail ?? "not a receipt: neither DER nor base64 of it")")
      }
      return (name: name, bytes: bytes)
    }
    try await ReceiptOutcome.collect(receipts, server: server, output: output) { client, bytes in
      try await client.submitReceipt(
        SubmitReceiptRequest(
          receipt: bytes, bundleID: bundleID.map { BundleID($0) },
          accountID: account.map { AccountID($0) },
          anonymousAccountID: anonymousAccount.map { AccountID($0) },
          deviceIdentifier: deviceIdentifier?.bytes,
          priority: priority.submissionPriority))
    }
  }
}

struct ReceiptImportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import", abstract: "Imports archived responses of Apple's former verifyReceipt.",
    discussion: """
      Each file is one response, in JSON, or a version 1 notification with its unified_receipt, or \
      a unified_receipt alone. It is not signed: its facts have lower precedence than all signed facts, take no purchase from another account, and are marked in every answer. A \
      receipt, such as the response's latest_receipt, is better evidence: submit it with receipt \
      submit. Each response is one call; when a call fails, earlier results are still printed. The \
      command fails unless the server's catalog has archived_responses: accept for the app. Exit \
      code 2 when the server refuses a response, or a purchase in it.
      """)

  @Argument(help: "Files, or - for stdin.")
  var files: [String]

  @Option(
    name: .app,
    help: """
      The app that all responses must belong to. Default: the context's, else the only one that \
      the server lets the caller use.
      """)
  var bundleID: String?

  @Option(help: "The account that owns the purchases.")
  var account: String?

  @Option(
    help: """
      The environment of responses that name none, as in the style of iOS 6: production or sandbox. \
      Responses that name one must be of it.
      """)
  var environment: EnvironmentName?

  @Option(
    help: """
      When Apple gave responses that do not tell: \(PastMoment.forms). Default: at the latest moment in \
      them that had come by then.
      """)
  var asOf: PastMoment?

  @OptionGroup var onBehalfOf: OnBehalfOfOption
  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let responses = try files.map { path in
      let bytes = try ReceiptFile.contents(
        of: path, limit: ImportArchivedResponseRequest.maximumResponseLength)
      let name = ReceiptFile.name(of: path)
      if let detail = MisplacedDocument(bytes)?.detail(at: .archivedResponse) {
        throw CommandFailure(.failed, "\(name): \(detail)")
      }
      return (name: name, bytes: bytes)
    }
    let app = try await AppOptions.scope(bundleID, nil, on: server).bundleID
    let asOf = asOf?.moment(from: .now)
    try await ReceiptOutcome.collect(responses, server: server, output: output) { client, bytes in
      try await client.importArchivedResponse(
        ImportArchivedResponseRequest(
          bundleID: app, environment: environment?.environment,
          accountID: account.map { AccountID($0) }, response: bytes, asOf: asOf,
          onBehalfOf: onBehalfOf.name))
    }
  }
}

/// Reads a file that contains one receipt or one archived response.
enum ReceiptFile {
  /// - Parameters:
  ///   - path: `-` is stdin.
  ///   - limit: in bytes.
  /// - Throws: ``CommandFailure`` when the file cannot be read, is empty, or is too large.
  static func contents(of path: String, limit: Int) throws(CommandFailure) -> [UInt8] {
    let bytes = try InputFile.contents(of: path, limit: limit)
    if bytes.isEmpty { throw CommandFailure(.failed, "\(name(of: path)): empty") }
    return bytes
  }

  static func name(of path: String) -> String { path == "-" ? "stdin" : path }
}
