import Cryptography
import StoreSimulator

/// Seeds of ``ReceiptProbe`` in each of its forms.
enum ReceiptCorpus {
  static func seeds(_ customers: [CorpusCustomer]) -> [FuzzSeed] {
    var seeds = customers.flatMap(seeds)
    if let customer = customers.first(where: { !$0.receipt.items.isEmpty }) {
      seeds += signed(customer)
    }
    let long = SimulatedReceipt.ofLongHistory(itemCount: 187, creationDate: FuzzSigner.now)
    if let content = try? long.content() { seeds.append(FuzzSeed("long-content", content)) }
    return seeds + changes + stored + misplaced
  }

  /// Responses as teams stored them: in the style of iOS 6, and in a notification of version 1.
  private static let stored = [
    FuzzSeed(
      "ios6-archive",
      Array(
        """
        {"status":21006,"receipt":{"bid":"com.example.scribe","bvrs":"1","product_id":"yearly",\
        "transaction_id":"2","original_transaction_id":"1","purchase_date_ms":"1447821281000",\
        "expires_date":"1448346881000"},"latest_expired_receipt_info":{"transaction_id":"3",\
        "product_id":"yearly","purchase_date_ms":"1448346881000"},"auto_renew_status":0}
        """.utf8)),
    FuzzSeed(
      "notification-archive",
      Array(
        """
        {"notification_type":"DID_RENEW","environment":"PROD","bid":"com.example.scribe","bvrs":"1",\
        "unified_receipt":{"status":0,"environment":"Production","latest_receipt_info":[{"product_id":\
        "yearly","transaction_id":"2","purchase_date_ms":"1667034938000"}],"pending_renewal_info":[\
        {"product_id":"yearly","auto_renew_status":"1"}]}}
        """.utf8)),
  ]

  /// Documents that belong elsewhere, in wrappings.
  private static let misplaced = [
    FuzzSeed("quoted-receipt", Array("\"MIIT\\/w==\"".utf8)),
    FuzzSeed("receipt-twice", Array("TUlJVC93PT0=".utf8)),
    FuzzSeed("jws-as-receipt", Array("eyJhIjoxfQ.e30.AA\n".utf8)),
    FuzzSeed("transaction-receipt", Array("ewoJInNpZ25hdHVyZSIgPSAiQXEiOwp9".utf8)),
  ]

  private static func seeds(of customer: CorpusCustomer) -> [FuzzSeed] {
    let receipt = customer.receipt
    let archive = FuzzSeed("\(customer.name)-archive", receipt.archivedResponse())
    guard let content = try? receipt.content() else { return [archive] }
    return [archive, FuzzSeed("\(customer.name)-content", content)]
  }

  /// As an app submits it: with each digest, in DER and in base64.
  private static func signed(_ customer: CorpusCustomer) -> [FuzzSeed] {
    let authority = FuzzReceiptSigner.shared.authority
    var seeds: [FuzzSeed] = []
    for (name, digest) in [("sha256", ReceiptAuthority.Digest.sha256), ("sha1", .sha1)] {
      guard let der = try? authority.sign(customer.receipt, digest: digest) else { continue }
      seeds.append(FuzzSeed("signed-\(name)", der))
      seeds.append(FuzzSeed("signed-\(name)-base64", Base64Form.standard.encode(der)))
    }
    var xcode = customer.receipt
    xcode.receiptType = "Xcode"
    if let content = try? xcode.content() { seeds.append(FuzzSeed("xcode-content", content)) }
    if let ber = try? FuzzReceiptSigner.shared.xcode.sign(xcode) {
      seeds.append(FuzzSeed("signed-xcode", ber))
    }
    return seeds
  }

  /// No change, one at the start, and several.
  private static let changes = [
    FuzzSeed("no-change", [0]), FuzzSeed("one-change", [0, 0, 0, 0x30]),
    FuzzSeed("changes", [0, 0x01, 0x00, 0x55, 0x02, 0x00, 0x00, 0x0A, 0x00, 0xFF]),
  ]
}
