import ArgumentParser
import EntitlementDomain
import Framing
import Programs
import RPCClient
import Wire

struct SubmitCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "submit", abstract: "Submits transactions, renewal infos and app transactions.",
    discussion: """
      Files contain one JWS a line, with or without quotes, or JSON as the App Store Server API \
      returns it, or a JSON array of JWS, over several lines or one value a line. Accepted \
      payloads are committed when the server answers. Large inputs are split into several \
      requests; when one fails, earlier results are still printed. The last line on stderr counts \
      the payloads by their outcome. A table of more than \(SubmissionTotal.longestTable) payloads has the \
      refused ones only; --output json and jsonl have all. Exit code 2 when the server refuses a \
      payload.
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
    help: "The app that all payloads must belong to. Default: any that the server accepts.")
  var bundleID: String?

  @OptionGroup var priority: PriorityOption
  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  /// A payload and the server's result.
  private struct Outcome {
    let file: String
    let result: SubmittedItemResult
  }

  func validate() throws {
    if anonymousAccount != nil, account == nil {
      throw ValidationError("--anonymous-account needs --account")
    }
  }

  func run() async throws {
    let payloads = try files.flatMap { try PayloadSource.payloads(in: $0) }
    var outcomes: [Outcome] = []
    let failure = try await server.failure { client in
      var start = 0
      while start < payloads.count {
        let batch = payloads[start..<Self.end(of: payloads, from: start)]
        let response = try await client.submitSignedTransactions(
          SubmitSignedTransactionsRequest(
            signedPayloads: batch.map { String(decoding: $0.jws, as: UTF8.self) },
            bundleID: bundleID.map { BundleID($0) }, accountID: account.map { AccountID($0) },
            anonymousAccountID: anonymousAccount.map { AccountID($0) },
            priority: priority.submissionPriority))
        outcomes += zip(batch, response.results).map { Outcome(file: $0.name, result: $1) }
        start = batch.endIndex
        if payloads.count > batch.count {
          StandardError.write("submitted \(start) of \(payloads.count)")
        }
      }
    }
    // Results are printed even if a later request failed, because the server has committed them.
    if failure == nil || !outcomes.isEmpty {
      try output.write(
        documents: try outcomes.map { try JSONValue($0.result, ofFile: $0.file) }
      ) { _ in Self.table(SubmissionTotal.shown(outcomes) { $0.result.verdict }) }
    }
    var total = SubmissionTotal(of: payloads.count)
    for outcome in outcomes {
      let result = outcome.result
      total.add(result.verdict, result.disposition.map { [wireName($0): 1] } ?? [:])
    }
    total.report()
    if let failure { throw failure }
    if outcomes.contains(where: { $0.result.verdict != .ok }) {
      throw CommandFailure(.refused, nil)
    }
  }

  private static func table(_ outcomes: [Outcome]) -> String {
    var table = TextTable(
      header: ["FILE", "KIND", "VERDICT", "DISPOSITION", "LINK", "CHAIN", "REASON"])
    for outcome in outcomes {
      let result = outcome.result
      table.add([
        outcome.file, result.kind.map { wireName($0) } ?? "-", wireName(result.verdict),
        result.disposition.map { wireName($0) } ?? "-", result.link.map { wireName($0) } ?? "-",
        result.originalTransactionID?.rawValue ?? "-", result.detail ?? "-",
      ])
    }
    return table.text
  }

  /// The end index of the batch that begins at `start`, within the limits of one request.
  private static func end(of payloads: [SourcedPayload], from start: Int) -> Int {
    // Leaves room for the request's other fields and for protobuf's overhead of each payload.
    var room = RPCLimits.maximumFrameData - 65_536
    var end = start
    while end < payloads.count, end - start < SubmitSignedTransactionsRequest.maximumItems {
      room -= payloads[end].jws.count + 16
      if room < 0, end > start { break }
      end += 1
    }
    return end
  }
}
