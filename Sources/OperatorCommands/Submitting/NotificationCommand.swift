import ArgumentParser
import EntitlementDomain
import RPCClient
import Wire

struct NotificationCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "notification", abstract: "App Store Server Notifications.",
    subcommands: [NotificationListCommand.self, NotificationSubmitCommand.self])
}

struct NotificationSubmitCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "submit", abstract: "Submits signed notifications, version 2.",
    discussion: """
      Files contain one notification a line: JSON with signedPayload, as Apple sends it, or the JWS \
      alone, with or without quotes. So archives of a webhook are read as they are. JSON over \
      several lines is read too, one value a file. If a line contains no signed payload, nothing \
      is submitted, and the error names the line. Each notification is one call; when a call \
      fails, earlier results are still printed. Exit code 2 when the server refuses a notification.
      """)

  @Argument(help: "Files, or - for stdin.")
  var files: [String]

  @Option(help: "The account that owns the purchases.")
  var account: String?

  @OptionGroup var priority: PriorityOption
  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  /// A notification and the server's response.
  private struct Outcome {
    let file: String
    let response: SubmitNotificationResponse
  }

  func run() async throws {
    let payloads = try files.flatMap { try PayloadSource.payloads(in: $0) }
    try await SubmittedInputs.submitEach(payloads, to: server) { client, payload in
      let response = try await client.submitNotification(
        SubmitNotificationRequest(
          signedPayload: String(decoding: payload.jws, as: UTF8.self),
          accountID: account.map { AccountID($0) }, priority: priority.submissionPriority))
      return Outcome(file: payload.name, response: response)
    } isRefused: {
      $0.response.verdict != .ok
    } total: { outcome, total in
      total.add(outcome.response.verdict, [outcome.response.isDuplicate ? "KNOWN" : "NEW": 1])
    } write: { outcomes in
      try output.write(
        documents: try outcomes.map { try JSONValue($0.response, ofFile: $0.file) }
      ) { _ in Self.table(SubmissionTotal.shown(outcomes) { $0.response.verdict }) }
    }
  }

  private static func table(_ outcomes: [Outcome]) -> String {
    var table = TextTable(
      header: ["FILE", "TYPE", "SUBTYPE", "VERDICT", "KNOWN", "EVENTS", "REASON"])
    for outcome in outcomes {
      let response = outcome.response
      table.add([
        outcome.file, response.notificationType ?? "-", response.subtype ?? "-",
        wireName(response.verdict), response.isDuplicate ? "yes" : "no", response.events.cell,
        response.detail ?? "-",
      ])
    }
    return table.text
  }
}
