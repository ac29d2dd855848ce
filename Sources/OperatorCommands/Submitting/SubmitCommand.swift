import ArgumentParser
import EntitlementDomain
import Programs
import RPCClient
import Wire

struct SubmitCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "submit", abstract: "Submits transactions, renewal infos and app transactions.",
    discussion: """
      Files hold one JWS a line, or JSON as the App Store Server API returns it. What the server \
      accepts is committed when it answers. More than one request holds goes in several; when one \
      fails, what was answered before is printed all the same. Exit code 2 when it refuses one.
      """)

  @Argument(help: "Files, or - for stdin.")
  var files: [String]

  @Option(help: "The account that owns the purchases.")
  var account: String?

  @Option(help: "The app that every payload must be of. Default: any that the server accepts.")
  var bundleID: String?

  @OptionGroup var priority: PriorityOption
  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let payloads = try files.flatMap { try PayloadSource.payloads(in: $0) }
    var documents: [SubmittedDocument] = []
    let failure = try await server.failure { client in
      var start = 0
      while start < payloads.count {
        let batch = payloads[start..<Self.end(of: payloads, from: start)]
        let response = try await client.submitSignedTransactions(
          SubmitSignedTransactionsRequest(
            signedPayloads: batch.map { String(decoding: $0.jws, as: UTF8.self) },
            bundleID: bundleID.map { BundleID($0) }, accountID: account.map { AccountID($0) },
            priority: priority.submissionPriority))
        documents += zip(batch, response.results).map { SubmittedDocument($0.name, $1) }
        start = batch.endIndex
        if payloads.count > batch.count {
          StandardError.write("submitted \(start) of \(payloads.count)")
        }
      }
    }
    // What was answered is committed, whatever became of the rest.
    if failure == nil || !documents.isEmpty {
      try output.write(documents, table: SubmittedDocument.table)
    }
    if let failure { throw failure }
    if documents.contains(where: { $0.verdict != "OK" }) {
      throw CommandFailure(.refused, nil)
    }
  }

  /// Where the batch that begins at `start` ends: within the limits of one request.
  private static func end(of payloads: [SourcedPayload], from start: Int) -> Int {
    // Room for the request's other fields, and for what protobuf adds to each payload.
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
