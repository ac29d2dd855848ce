import ArgumentParser
import EntitlementDomain
import RPCClient
import Wire

struct NotificationCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "notification", abstract: "App Store Server Notifications.",
    subcommands: [NotificationSubmitCommand.self])
}

struct NotificationSubmitCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "submit", abstract: "Submits signed notifications, version 2.",
    discussion: """
      Files hold one JWS a line, or JSON with signedPayload, as Apple sends and archives them. \
      Each is a call; when one fails, what was answered before is printed all the same. Exit code \
      2 when the server refuses one.
      """)

  @Argument(help: "Files, or - for stdin.")
  var files: [String]

  @Option(help: "The account that owns the purchases.")
  var account: String?

  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  /// What became of one notification, in JSON: a contract.
  private struct Document: Encodable {
    let file: String
    let verdict: String
    let reason: String?
    let notificationUuid: String?
    let notificationType: String?
    let subtype: String?
    let duplicate: Bool
    let results: [SubmittedDocument]

    init(_ file: String, _ response: SubmitNotificationResponse) {
      self.file = file
      verdict = wireName(response.verdict)
      reason = response.detail
      notificationUuid = response.notificationUUID?.rawValue
      notificationType = response.notificationType
      subtype = response.subtype
      duplicate = response.isDuplicate
      results = response.results.map { SubmittedDocument(file, $0) }
    }
  }

  func run() async throws {
    let payloads = try files.flatMap { try PayloadSource.payloads(in: $0) }
    var documents: [Document] = []
    let failure = try await server.failure { client in
      for payload in payloads {
        let response = try await client.submitNotification(
          SubmitNotificationRequest(
            signedPayload: String(decoding: payload.jws, as: UTF8.self),
            accountID: account.map { AccountID($0) }))
        documents.append(Document(payload.name, response))
      }
    }
    // What was answered is committed, whatever became of the rest.
    if failure == nil || !documents.isEmpty {
      try output.write(documents, table: Self.table)
    }
    if let failure { throw failure }
    if documents.contains(where: { $0.verdict != "OK" }) {
      throw ExitCode(CommandFailure.Reason.refused.rawValue)
    }
  }

  private static func table(_ documents: [Document]) -> String {
    var table = TextTable(header: ["FILE", "TYPE", "SUBTYPE", "VERDICT", "KNOWN", "REASON"])
    for document in documents {
      table.add([
        document.file, document.notificationType ?? "-", document.subtype ?? "-",
        document.verdict, document.duplicate ? "yes" : "no", document.reason ?? "-",
      ])
    }
    return table.text
  }
}
