import AppStorePayloads
import Foundation
import Programs
import Verification

/// Reads signed payloads from files. A file contains one payload a line, or JSON as the App Store
/// Server API returns it. A line is a JWS, a JWS as a JSON string, or JSON, such as what a webhook
/// received. In JSON, every string under a name that begins with `signed` is a payload, and every string
/// of an array that is in no object; within one object, transactions come before renewal infos. A file
/// may also be a legacy receipt or an archived response. A UTF-8 byte order mark at its start is ignored.
enum PayloadSource {
  /// Far above a page of Apple's API. The limit keeps a wrong file from filling the memory.
  static let maximumFileBytes = 256 << 20

  /// - Parameter path: `-` is stdin.
  /// - Throws: ``CommandFailure`` when the file cannot be read, or a line of it contains no signed
  ///   payload. Messages contain line numbers and never what is in a line.
  static func payloads(in path: String) throws(CommandFailure) -> [SourcedPayload] {
    var payloads: [SourcedPayload] = []
    for finding in try findings(in: path) {
      do throws(Refusal) {
        payloads.append(try finding.payload())
      } catch {
        throw CommandFailure(.failed, "\(finding.name): \(error.detail)")
      }
    }
    return payloads
  }

  /// Reads all files in order. A file that cannot be read is reported on stderr, and the remaining
  /// files are read. `isComplete` is true if all files could be read.
  static func readAll(_ paths: [String]) -> (findings: [SourcedFinding], isComplete: Bool) {
    var findings: [SourcedFinding] = []
    var isComplete = true
    for path in paths {
      do throws(CommandFailure) {
        findings += try self.findings(in: path)
      } catch {
        error.report()
        isComplete = false
      }
    }
    return (findings, isComplete)
  }

  /// - Throws: ``CommandFailure`` when the file cannot be read.
  private static func findings(in path: String) throws(CommandFailure) -> [SourcedFinding] {
    findings(
      in: try InputFile.contents(of: path, limit: maximumFileBytes),
      name: path == "-" ? "stdin" : path)
  }

  /// - Parameters:
  ///   - contents: the contents of a file.
  ///   - name: the name of the file.
  /// - Returns: the payloads in their order, and an error in the place of each line without one.
  static func findings(in contents: [UInt8], name: String) -> [SourcedFinding] {
    let found = self.contents(of: withoutByteOrderMark(contents))
    return found.enumerated().map { index, content in
      SourcedFinding(name: found.count > 1 ? "\(name)#\(index + 1)" : name, content: content)
    }
  }

  private static func withoutByteOrderMark(_ bytes: [UInt8]) -> [UInt8] {
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    return bytes.starts(with: mark) ? Array(bytes.dropFirst(mark.count)) : bytes
  }

  private static func contents(of bytes: [UInt8]) -> [Result<SourcedContent, Refusal>] {
    if ReceiptForm.isReceipt(bytes) { return [.success(.receipt(bytes))] }
    if bytes.contains(0) { return [nothing("it is not text")] }
    if let detail = detail(ofOther: bytes) { return [nothing(detail)] }
    let first = bytes.first { !isBlank($0) }
    let isJSON = first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
    if isJSON, let contents = contents(ofJSON: bytes) {
      return contents.isEmpty ? [nothing()] : contents.map { .success($0) }
    }
    let lines = lines(of: bytes)
    // A line that is JSON by itself tells that the others are too. Else the whole was meant.
    if isJSON, let line = lines.first, contents(ofJSON: line.bytes) == nil {
      return [nothing("it begins like JSON, but is not valid")]
    }
    let found = lines.flatMap { contents(of: $0, isOnly: lines.count == 1) }
    return found.isEmpty ? [nothing()] : found
  }

  /// The payloads of one line, or why it has none.
  private static func contents(
    of line: Line, isOnly: Bool
  ) -> [Result<SourcedContent, Refusal>] {
    let place = isOnly ? nil : line.number
    switch line.bytes.first {
    case UInt8(ascii: "{"), UInt8(ascii: "["):
      guard let contents = contents(ofJSON: line.bytes) else {
        return [nothing("it begins like JSON, but is not valid", line: place)]
      }
      return contents.isEmpty ? [nothing(line: place)] : contents.map { .success($0) }
    case UInt8(ascii: "\""):
      guard let text = string(ofJSON: line.bytes) else {
        return [nothing("it begins like a JSON string, but is not valid", line: place)]
      }
      return text.isEmpty ? [nothing(line: place)] : [.success(.jws(Array(text.utf8)))]
    default:
      return [.success(.jws(line.bytes))]
    }
  }

  /// Says what a document is that has no signed payload to read; nil for any other.
  private static func detail(ofOther document: [UInt8]) -> String? {
    guard let found = MisplacedDocument(document) else { return nil }
    switch found.kind {
    case .signedPayload, .notificationBody, .archivedResponse, .serverAnswer, .list: return nil
    case .versionOneNotification where contents(ofJSON: document)?.isEmpty == false:
      return nil
    default: return found.detail(at: .signedPayload)
    }
  }

  private static func nothing(
    _ reason: String? = nil, line: Int? = nil
  ) -> Result<SourcedContent, Refusal> {
    .failure(
      Refusal(
        .malformed,
        (line.map { "line \($0): " } ?? "") + "no signed payload in it"
          + (reason.map { ": \($0)" } ?? "")))
  }

  /// A line with its number in the file, without blanks around it.
  private struct Line {
    let number: Int
    let bytes: [UInt8]
  }

  /// The lines that are not blank. A line ends with LF, CR LF, or CR.
  private static func lines(of bytes: [UInt8]) -> [Line] {
    var lines: [Line] = []
    var number = 1
    var start = bytes.startIndex
    func end(_ index: Int) {
      let line = bytes[start..<index].drop(while: isBlank).reversed().drop(while: isBlank)
      if !line.isEmpty { lines.append(Line(number: number, bytes: line.reversed())) }
    }
    for index in bytes.indices {
      let isCarriageReturn = bytes[index] == UInt8(ascii: "\r")
      guard isCarriageReturn || bytes[index] == UInt8(ascii: "\n") else { continue }
      end(index)
      start = index + 1
      let isPair = isCarriageReturn && start < bytes.count && bytes[start] == UInt8(ascii: "\n")
      if !isPair { number += 1 }
    }
    end(bytes.endIndex)
    return lines
  }

  private static func isBlank(_ byte: UInt8) -> Bool {
    byte == 0x20 || (0x09...0x0d).contains(byte)
  }

  /// Nil when the text is not JSON.
  private static func contents(ofJSON bytes: [UInt8]) -> [SourcedContent]? {
    guard let value = try? JSONSerialization.jsonObject(with: Data(bytes)) else { return nil }
    if let object = value as? [String: Any], isArchivedResponse(object) {
      return [.archivedResponse(bytes)]
    }
    var texts: [[UInt8]] = []
    collect(value, isSigned: value is [Any], into: &texts)
    return texts.map { .jws($0) }
  }

  /// Nil when the text is not a JSON string.
  private static func string(ofJSON bytes: [UInt8]) -> String? {
    let options = JSONSerialization.ReadingOptions.fragmentsAllowed
    return try? JSONSerialization.jsonObject(with: Data(bytes), options: options) as? String
  }

  private static func isArchivedResponse(_ object: [String: Any]) -> Bool {
    switch MisplacedDocument.Kind(ofObject: { object["\($0)"] != nil }) {
    case .archivedResponse: true
    case .versionOneNotification: object["unified_receipt"] != nil
    default: false
    }
  }

  private static func collect(_ value: Any, isSigned: Bool, into texts: inout [[UInt8]]) {
    switch value {
    case let text as String:
      if isSigned { texts.append(Array(text.utf8)) }
    case let array as [Any]:
      for element in array { collect(element, isSigned: isSigned, into: &texts) }
    case let object as [String: Any]:
      for (name, member) in object.sorted(by: { $0.key > $1.key }) {
        collect(member, isSigned: name.hasPrefix("signed"), into: &texts)
      }
    default:
      break
    }
  }
}

/// One input from a file: its content, or the reason why it has none.
struct SourcedFinding {
  /// As in ``SourcedPayload``.
  let name: String
  let content: Result<SourcedContent, Refusal>

  /// - Throws: ``Refusal``, also when the content is not a JWS.
  func payload() throws(Refusal) -> SourcedPayload {
    switch try content.get() {
    case .jws(let bytes): return SourcedPayload(name: name, jws: bytes)
    case .receipt(let bytes), .archivedResponse(let bytes):
      let detail = MisplacedDocument(bytes)?.detail(at: .signedPayload)
      throw Refusal(.malformed, detail ?? "this is no signed payload")
    }
  }
}

/// The kinds of content that an input can have.
enum SourcedContent {
  /// A transaction, renewal info, app transaction or notification in compact form.
  case jws([UInt8])
  /// A legacy receipt: DER, or base64 of it.
  case receipt([UInt8])
  /// JSON of Apple's former `verifyReceipt`.
  case archivedResponse([UInt8])
}

/// One signed payload and its origin.
struct SourcedPayload {
  /// The file's name, with the position of the payload if the file has several: `history.json#3`.
  let name: String
  let jws: [UInt8]
}
