import ArgumentParser
import EntitlementDomain
import Foundation
import Programs
import RPCClient
import Wire

struct CustomerExportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Exports everything that is known of an account as one JSON document.",
    discussion: """
      Contains the payloads that Apple signed, decoded and as received. Writes to stdout, or to a \
      file that only its owner can read. Nothing is written unless the document is complete. For a \
      merged account, exports the account that it was merged into. Exit code 2 when the account is \
      not known.
      """)

  @Argument(help: "The account.")
  var account: String

  @Option(help: ArgumentHelp("The file to write. Default: stdout.", valueName: "file"))
  var output: String?

  @OptionGroup var onBehalfOf: OnBehalfOfOption
  @OptionGroup var app: AppOptions
  @OptionGroup var server: ServerOptions

  /// The read buffer of the stream, in bytes. The client ends a stream whose reader falls behind by
  /// more, so the buffer is large.
  private static let readBuffer = 64 << 20

  /// The part of the export that this command decodes.
  private struct Document: Decodable {
    let accountId: String
  }

  func validate() throws {
    // In other commands `--output` names the format. The export has only one format.
    if let output, OutputOptions.Format(rawValue: output) != nil {
      throw ValidationError("--output names a file here; use ./\(output) for a file of that name")
    }
  }

  func run() async throws {
    let scope = try await app.scope(on: server)
    let request = ExportCustomerRequest(
      scope: scope, accountID: AccountID(account), onBehalfOf: onBehalfOf.name)
    let document = try await server.withClient(streamReadBuffer: Self.readBuffer) { client in
      // The document is received completely before it is written: stdout may be slower than the
      // server's send timeout.
      var document: [UInt8] = []
      for try await piece in try client.exportCustomer(request) { document += piece }
      return document
    }
    guard let about = try? JSONDecoder().decode(Document.self, from: Data(document)) else {
      throw CommandFailure(.failed, "the server sent no JSON document")
    }
    MergedAccountNotice.write(of: account, answeredBy: AccountID(about.accountId), "its export")
    if let output, output != "-" {
      try PrivateFile.write(document, to: output)
    } else {
      try StandardOutput.write(String(decoding: document, as: UTF8.self))
    }
  }
}
