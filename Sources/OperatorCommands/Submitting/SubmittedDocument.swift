import EntitlementDomain
import JSONDocuments
import Wire

/// What became of one payload, in JSON: a contract.
struct SubmittedDocument: Encodable {
  let file: String
  let kind: String?
  let verdict: String
  let reason: String?
  let disposition: String?
  let link: String?
  let originalTransactionId: String?
  let transactionId: String?

  init(_ file: String, _ result: SubmittedItemResult) {
    self.file = file
    kind = result.kind.map { wireName($0) }
    verdict = wireName(result.verdict)
    reason = result.detail
    disposition = result.disposition.map { wireName($0) }
    link = result.link.map { wireName($0) }
    originalTransactionId = result.originalTransactionID?.rawValue
    transactionId = result.transactionID?.rawValue
  }

  static func table(_ documents: [SubmittedDocument]) -> String {
    var table = TextTable(
      header: ["FILE", "KIND", "VERDICT", "DISPOSITION", "LINK", "CHAIN", "REASON"])
    for document in documents {
      table.add([
        document.file, document.kind ?? "-", document.verdict, document.disposition ?? "-",
        document.link ?? "-", document.originalTransactionId ?? "-", document.reason ?? "-",
      ])
    }
    return table.text
  }
}
