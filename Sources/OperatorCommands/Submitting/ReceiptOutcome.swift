import ArgumentParser
import EntitlementDomain
import RPCClient
import Wire

/// A receipt or an archived response, and the server's response.
struct ReceiptOutcome {
  let file: String
  let response: SubmitReceiptResponse

  /// Submits the inputs one after the other and prints the results, as ``SubmittedInputs`` does.
  static func collect(
    _ inputs: [(name: String, bytes: [UInt8])], server: ServerOptions, output: OutputOptions,
    _ submit: (EntitlementClient, [UInt8]) async throws -> SubmitReceiptResponse
  ) async throws {
    try await SubmittedInputs.submitEach(inputs, to: server) { client, input in
      ReceiptOutcome(file: input.name, response: try await submit(client, input.bytes))
    } isRefused: {
      $0.hasRefusal
    } total: { outcome, total in
      let purchases = outcome.response.results.map { result in
        result.disposition.map { wireName($0) } ?? wireName(result.verdict)
      }
      total.add(
        outcome.response.verdict,
        Dictionary(purchases.map { ("\($0)", 1) }, uniquingKeysWith: +))
    } write: { outcomes in
      try output.write(
        documents: try outcomes.map { try JSONValue($0.response, ofFile: $0.file) }
      ) { _ in table(outcomes) }
    }
  }

  /// Whether the server refused the input, or a purchase in it.
  private var hasRefusal: Bool {
    response.verdict != .ok || response.results.contains { $0.verdict != .ok }
  }

  /// One line a file, followed by one line for each refused purchase.
  private static func table(_ outcomes: [ReceiptOutcome]) -> String {
    var table = TextTable(
      header: ["FILE", "VERDICT", "TYPE", "CREATED", "PURCHASES", "NEW", "REASON"])
    for outcome in outcomes {
      let response = outcome.response
      let new = response.results.count {
        $0.disposition == .added || $0.disposition == .replaced
      }
      table.add([
        outcome.file, wireName(response.verdict), response.receipt?.receiptType ?? "-",
        response.receipt?.creationDate.display ?? "-",
        response.receipt.map { "\($0.inAppCount)" } ?? "-",
        response.receipt == nil ? "-" : "\(new)", response.detail ?? "-",
      ])
      for (position, result) in response.results.enumerated() where result.verdict != .ok {
        table.add([
          "\(outcome.file)#\(position + 1)", wireName(result.verdict), "-", "-", "-", "-",
          result.detail ?? "-",
        ])
      }
    }
    return table.text
  }
}
