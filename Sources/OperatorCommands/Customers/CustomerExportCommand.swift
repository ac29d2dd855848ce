import ArgumentParser
import EntitlementDomain
import Foundation
import Programs
import RPCClient
import Wire

struct CustomerExportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export", abstract: "All that is known of an account, as one JSON document.",
    discussion: """
      With the payloads that Apple signed, decoded and as they came. To stdout, or to a file that \
      only its owner may read; nothing is written unless the document is complete. Of an account \
      that was merged into another, it is the other's. Exit code 2 when nothing is known of the \
      account.
      """)

  @Argument(help: "The account.")
  var account: String

  @Option(help: ArgumentHelp("The file to write. Default: stdout.", valueName: "file"))
  var output: String?

  @OptionGroup var app: AppOptions
  @OptionGroup var server: ServerOptions

  /// Bytes that may wait to be taken from the connection: more than the pieces that arrive while
  /// this machine is busy with others.
  private static let readBuffer = 64 << 20

  /// What is read of the document here.
  private struct Document: Decodable {
    let accountId: String
  }

  func validate() throws {
    // Elsewhere it names the format; this one has but one.
    if let output, OutputOptions.Format(rawValue: output) != nil {
      throw ValidationError("--output names a file here: ./\(output) for one of that name")
    }
  }

  func run() async throws {
    let request = ExportCustomerRequest(scope: app.scope, accountID: AccountID(account))
    let document = try await server.withClient(streamReadBuffer: Self.readBuffer) { client in
      // Taken as a whole: whoever reads stdout may be slower than the server waits.
      var document: [UInt8] = []
      for try await piece in try client.exportCustomer(request) { document += piece }
      return document
    }
    guard let about = try? JSONDecoder().decode(Document.self, from: Data(document)) else {
      throw CommandFailure(.failed, "the server sent no JSON document")
    }
    MergedName.tell(of: account, answeredBy: AccountID(about.accountId), "its export")
    if let output, output != "-" {
      try PrivateFile.write(document, to: output)
    } else {
      try StandardOutput.write(String(decoding: document, as: UTF8.self))
    }
  }
}
