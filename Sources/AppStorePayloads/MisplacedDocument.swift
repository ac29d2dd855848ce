import JSON

/// What a document is that came where another one belongs, such as a receipt in place of a signed payload, or
/// in an encoding too many.
///
/// It is found by the form alone: nothing is verified, and no value is told. It is asked for after a document was
/// refused, and only the text of the refusal depends on it.
package struct MisplacedDocument: Hashable, Sendable {
  package let kind: Kind
  /// What is around the document, the outermost first.
  package let wrappings: [Wrapping]

  /// What App Store documents are handed in as.
  package enum Kind: Hashable, Sendable, CaseIterable {
    /// A JWS in compact form.
    case signedPayload
    /// A PKCS #7 app receipt.
    case receipt
    /// What the App Store posts: `{"signedPayload": "…"}`.
    case notificationBody
    /// What the App Store posted before version 2. It is not signed.
    case versionOneNotification
    /// A response of the former `verifyReceipt`.
    case archivedResponse
    /// A request to it: `{"receipt-data": "…"}`.
    case receiptRequest
    /// `transactionReceipt` of iOS 6 and before: a property list in the style of NeXTSTEP.
    case transactionReceipt
    /// `{"Store": "AppleAppStore", "TransactionID": "…", "Payload": "…"}`.
    case unityReceipt
    /// The JSON inside a JWS, without header and signature.
    case unsignedPayload
    /// JSON of the App Store Server API, with signed payloads in it.
    case serverAnswer
    /// A JSON array.
    case list
    /// The digits of a transaction id.
    case transactionID
  }

  package enum Wrapping: Hashable, Sendable, CaseIterable {
    case quotes
    case base64
    /// Base64 with `-` and `_`.
    case base64URL
    /// Base64 whose `+` became blanks, as a form is decoded.
    case lostPlus
    /// Blanks or line breaks, of a JWS.
    case blanks
    /// `+`, `/` or padding, of a JWS.
    case standardBase64
  }

  /// Where a document can come, by what belongs there.
  package enum Door: Hashable, Sendable, CaseIterable {
    case signedPayload
    case receipt
    case notificationBody
    case archivedResponse
  }

  /// Longer documents are not looked at as JSON: no call takes them.
  private static let maximumJSONLength = 4_194_304
  /// Of a base64 text: enough to tell what it is.
  private static let prefixLength = 64
  /// A property list names its members near its beginning.
  private static let propertyListPrefix = 4_096
  private static let maximumWrappings = 3
  private static let maximumDigits = 32

  /// - Returns: nil if it is nothing that is known.
  package init?(_ document: [UInt8]) {
    guard let found = Self.find(document, inside: 0) else { return nil }
    self = found
  }

  package init(_ kind: Kind, _ wrappings: [Wrapping] = []) {
    self.kind = kind
    self.wrappings = wrappings
  }

  /// - Parameter count: of the wrappings that were taken off.
  private static func find(_ document: [UInt8], inside count: Int) -> MisplacedDocument? {
    guard count <= maximumWrappings else { return nil }
    if isDER(document) { return Self(.receipt) }
    let text = trimmed(document)
    switch text.first {
    case UInt8(ascii: "{"), UInt8(ascii: "["):
      return kind(ofObjectOrArray: Array(text)).map { Self($0) }
    case UInt8(ascii: "\""), UInt8(ascii: "'"):
      let found = unquoted(text).flatMap { find($0, inside: count + 1) }
      return found?.wrapped(in: .quotes)
    default:
      let characters = Characters(text)
      guard !characters.hasOther else { return nil }
      if characters.dots == 2, text.starts(with: "eyJ".utf8) {
        let hasBlanks = characters.hasBlank || characters.hasLineBreak
        let isTrimmed = text.count < document.count
        let isStandard = characters.hasPlus || characters.hasSlash || characters.hasPadding
        return Self(
          .signedPayload,
          (hasBlanks || isTrimmed ? [.blanks] : []) + (isStandard ? [.standardBase64] : []))
      }
      guard characters.dots == 0, !text.isEmpty else { return nil }
      if characters.isNumber { return text.count <= maximumDigits ? Self(.transactionID) : nil }
      return find(inBase64: text, characters, inside: count)
    }
  }

  private static func find(
    inBase64 text: ArraySlice<UInt8>, _ characters: Characters, inside count: Int
  ) -> MisplacedDocument? {
    let prefix = decoded(text.prefix(prefixLength), characters)
    if isDER(prefix) { return Self(.receipt, [characters.encodingOfReceipt]) }
    // Whatever else it can contain is text.
    guard prefix.allSatisfy({ isBlank($0) || (0x21...0x7E).contains($0) }) else { return nil }
    return find(decoded(text, characters), inside: count + 1)?.wrapped(in: .base64)
  }

  private func wrapped(in wrapping: Wrapping) -> MisplacedDocument {
    Self(kind, [wrapping] + wrappings)
  }
}

// Forms.
extension MisplacedDocument {
  /// Whether it starts like DER of at least 128 bytes, or like the indefinite form of Xcode.
  private static func isDER(_ bytes: [UInt8]) -> Bool {
    bytes.count >= 2 && bytes[0] == 0x30 && (0x80...0x84).contains(bytes[1])
  }

  private static func isBlank(_ byte: UInt8) -> Bool {
    byte == 0x20 || (0x09...0x0D).contains(byte)
  }

  private static func trimmed(_ bytes: [UInt8]) -> ArraySlice<UInt8> {
    let start = bytes.firstIndex { !isBlank($0) } ?? bytes.endIndex
    let end = bytes.lastIndex { !isBlank($0) }.map { $0 + 1 } ?? start
    return bytes[start..<end]
  }

  /// The content of a JSON string, or what is between single quotes.
  private static func unquoted(_ text: ArraySlice<UInt8>) -> [UInt8]? {
    guard text.count >= 2, text.first == text.last else { return nil }
    if let document = try? JSONDocument(Array(text), lengthLimit: maximumJSONLength) {
      return document.content(ofStringAt: 0)
    }
    return Array(text.dropFirst().dropLast())
  }

  private static func kind(ofObjectOrArray json: [UInt8]) -> Kind? {
    guard let document = try? JSONDocument(json, lengthLimit: maximumJSONLength) else {
      return isPropertyList(json) ? .transactionReceipt : nil
    }
    if document.nodes[0].kind == .array { return .list }
    return Kind { document.value(of: $0, inObjectAt: 0) != nil }
  }

  /// Whether it is a property list in the style of NeXTSTEP, such as `{ "signature" = "…"; … }`.
  private static func isPropertyList(_ text: [UInt8]) -> Bool {
    let start = String(decoding: text.prefix(propertyListPrefix), as: UTF8.self)
    return ["\"signature\" =", "\"purchase-info\" ="].contains { start.contains($0) }
  }

  /// The characters of a text that may be base64 or a JWS.
  private struct Characters {
    var dots = 0
    var hasBlank = false
    var hasLineBreak = false
    var hasPlus = false
    var hasSlash = false
    var hasURL = false
    var hasPadding = false
    var hasLetter = false
    var hasOther = false

    init(_ text: ArraySlice<UInt8>) {
      for byte in text {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): break
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"):
          hasLetter = true
        case UInt8(ascii: "."): dots += 1
        case UInt8(ascii: " "): hasBlank = true
        case UInt8(ascii: "+"): hasPlus = true
        case UInt8(ascii: "/"): hasSlash = true
        case UInt8(ascii: "-"), UInt8(ascii: "_"): hasURL = true
        case UInt8(ascii: "="): hasPadding = true
        case UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: "\n"): hasLineBreak = true
        default: hasOther = true
        }
      }
    }

    var isNumber: Bool {
      !(hasLetter || hasBlank || hasLineBreak || hasPlus || hasSlash || hasURL || hasPadding)
    }

    var encodingOfReceipt: Wrapping {
      if hasURL { return .base64URL }
      // A receipt of 5 kB without any `+` does not occur.
      return hasBlank && !hasPlus ? .lostPlus : .base64
    }
  }

  /// Decodes base64 of any form, as far as it goes.
  private static func decoded(_ text: ArraySlice<UInt8>, _ characters: Characters) -> [UInt8] {
    var output: [UInt8] = []
    output.reserveCapacity(text.count / 4 * 3)
    var bits: UInt32 = 0
    var count: UInt32 = 0
    for byte in text {
      let value: UInt8
      switch byte {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"): value = byte - UInt8(ascii: "A")
      case UInt8(ascii: "a")...UInt8(ascii: "z"): value = byte - UInt8(ascii: "a") + 26
      case UInt8(ascii: "0")...UInt8(ascii: "9"): value = byte - UInt8(ascii: "0") + 52
      case UInt8(ascii: "+"), UInt8(ascii: "-"): value = 62
      case UInt8(ascii: "/"), UInt8(ascii: "_"): value = 63
      case UInt8(ascii: " ") where characters.encodingOfReceipt == .lostPlus: value = 62
      default: continue
      }
      bits = bits << 6 | UInt32(value)
      count += 6
      if count >= 8 {
        count -= 8
        output.append(UInt8(truncatingIfNeeded: bits >> count))
      }
    }
    return output
  }
}

extension MisplacedDocument.Kind {
  /// By the names of the members of an object; nil if they are of nothing that is known.
  ///
  /// - Parameter contains: whether the object has a member of that name.
  package init?(ofObject contains: (StaticString) -> Bool) {
    func hasAny(_ names: StaticString...) -> Bool { names.contains(where: contains) }
    if contains("signedPayload") {
      self = .notificationBody
    } else if hasAny("notification_type", "unified_receipt") {
      self = .versionOneNotification
    } else if contains("status"),
      hasAny("receipt", "latest_receipt_info", "latest_expired_receipt_info")
    {
      self = .archivedResponse
    } else if contains("receipt-data") {
      self = .receiptRequest
    } else if contains("Payload"), hasAny("Store", "TransactionID") {
      self = .unityReceipt
    } else if hasAny(
      "signedTransactionInfo", "signedRenewalInfo", "signedTransactions",
      "signedAppTransactionInfo", "notificationHistory")
      || contains("data") && contains("bundleId")
    {
      self = .serverAnswer
    } else if hasAny(
      "transactionId", "originalTransactionId", "notificationType", "receiptType",
      "receiptCreationDate")
    {
      self = .unsignedPayload
    } else {
      return nil
    }
  }
}

// Texts.
extension MisplacedDocument {
  /// Says what the document is and where it belongs, for logs and people.
  ///
  /// - Returns: nil if it came to the right place in the right form: then something else is wrong with it.
  package func detail(at door: Door) -> String? {
    // A receipt may be in base64, once.
    let mayBeBase64 = kind == .receipt
    let faults = mayBeBase64 && wrappings.last == .base64 ? wrappings.dropLast() : wrappings
    guard !isRight(for: door) || !faults.isEmpty else { return nil }
    let form = faults.map { fault in
      " " + (mayBeBase64 && fault == .base64 ? "in base64 twice" : fault.label)
    }
    let remedy = isRight(for: door) ? faults[0].remedy : kind.place(insteadOf: door)
    return "this is \(kind.label)\(form.joined(separator: ",")): \(remedy)"
  }

  private func isRight(for door: Door) -> Bool {
    switch (door, kind) {
    case (.signedPayload, .signedPayload), (.receipt, .receipt),
      (.notificationBody, .notificationBody), (.archivedResponse, .archivedResponse),
      (.archivedResponse, .versionOneNotification):
      true
    default: false
    }
  }
}

extension MisplacedDocument.Kind {
  fileprivate var label: String {
    switch self {
    case .signedPayload: "a signed payload (JWS)"
    case .receipt: "an app receipt (PKCS #7)"
    case .notificationBody: "the body of a notification"
    case .versionOneNotification: "a version 1 notification, which is not signed"
    case .archivedResponse: "an archived response of verifyReceipt, which is not signed"
    case .receiptRequest: "a request to verifyReceipt"
    case .transactionReceipt: "a transaction receipt in the style of iOS 6"
    case .unityReceipt: "a receipt of Unity IAP"
    case .unsignedPayload: "the content of a signed payload without its signature"
    case .serverAnswer: "an answer of the App Store Server API"
    case .list: "a JSON array"
    case .transactionID: "a transaction id, which proves nothing"
    }
  }

  fileprivate func place(insteadOf door: MisplacedDocument.Door) -> String {
    switch self {
    case .signedPayload where door == .notificationBody:
      "the body is JSON, with a notification as its signedPayload"
    case .signedPayload:
      """
      submit a transaction, renewal info or app transaction with SubmitSignedTransactions (entitlectl submit), a \
      notification with SubmitNotification (entitlectl notification submit)
      """
    case .receipt: "submit it with SubmitReceipt (entitlectl receipt submit)"
    case .notificationBody:
      """
      submit the value of its signedPayload with SubmitNotification (entitlectl notification submit), or post the \
      whole to the webhook
      """
    case .versionOneNotification:
      """
      in App Store Connect, choose version 2 (App Information > App Store Server Notifications); its unified_receipt \
      can be imported with ImportArchivedResponse (entitlectl receipt import)
      """
    case .archivedResponse: "import it with ImportArchivedResponse (entitlectl receipt import)"
    case .receiptRequest: "submit the value of its receipt-data with SubmitReceipt"
    case .transactionReceipt:
      "it is not accepted; submit the app receipt, or the signed transactions"
    case .unityReceipt:
      """
      submit the value of its Payload: a receipt with SubmitReceipt, a JWS with SubmitSignedTransactions
      """
    case .unsignedPayload: "submit the JWS that it was in (jwsRepresentation of StoreKit)"
    case .serverAnswer, .list:
      "submit each signed value in it by itself (entitlectl submit reads the whole)"
    case .transactionID: "submit what the App Store signed of it"
    }
  }
}

extension MisplacedDocument.Wrapping {
  fileprivate var label: String {
    switch self {
    case .quotes: "in quotes"
    case .base64: "in base64"
    case .base64URL: "in base64url"
    case .lostPlus: "in base64 whose + became blanks"
    case .blanks: "with blanks or line breaks"
    case .standardBase64: "in base64 with +, / or ="
    }
  }

  fileprivate var remedy: String {
    switch self {
    case .quotes: "leave them out"
    case .base64: "decode it once"
    case .base64URL: "encode it in standard base64, with + and /"
    case .lostPlus: "in form data, + is written %2B"
    case .blanks: "leave them out"
    case .standardBase64: "a JWS has base64url without padding"
    }
  }
}
