import Foundation
import Programs
import Verification

/// Reads signed payloads from files. A file contains one JWS a line, or JSON as the App Store
/// Server API returns it: every string under a name that begins with `signed` is a payload. Within
/// one JSON object, transactions come before renewal infos. A file may also be a legacy receipt or
/// an archived response.
enum PayloadSource {
  /// Far above a page of Apple's API. The limit keeps a wrong file from filling the memory.
  static let maximumFileBytes = 256 << 20

  /// - Parameter path: `-` is stdin.
  /// - Throws: ``CommandFailure`` when the file cannot be read or contains no signed payload.
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
    let bytes = try InputFile.contents(of: path, limit: maximumFileBytes)
    let name = path == "-" ? "stdin" : path
    let contents: [SourcedContent]
    do throws(Refusal) {
      contents = try self.contents(of: bytes)
    } catch {
      return [SourcedFinding(name: name, content: .failure(error))]
    }
    return contents.enumerated().map { index, content in
      SourcedFinding(
        name: contents.count > 1 ? "\(name)#\(index + 1)" : name, content: .success(content))
    }
  }

  private static func contents(of bytes: [UInt8]) throws(Refusal) -> [SourcedContent] {
    if ReceiptForm.isReceipt(bytes) { return [.receipt(bytes)] }
    if bytes.contains(0) { throw Refusal(.malformed, "no signed payload in it: it is not text") }
    let first = bytes.first { !isBlank($0) }
    let contents =
      first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
      ? try contents(ofJSON: bytes) : lines(of: bytes).map { SourcedContent.jws($0) }
    if contents.isEmpty { throw Refusal(.malformed, "no signed payload in it") }
    return contents
  }

  private static func lines(of bytes: [UInt8]) -> [[UInt8]] {
    bytes.split { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
      .map { line in
        Array(line.drop(while: isBlank).reversed().drop(while: isBlank).reversed())
      }
      .filter { !$0.isEmpty }
  }

  private static func isBlank(_ byte: UInt8) -> Bool {
    byte == 0x20 || (0x09...0x0d).contains(byte)
  }

  private static func contents(ofJSON bytes: [UInt8]) throws(Refusal) -> [SourcedContent] {
    let value: Any
    do {
      value = try JSONSerialization.jsonObject(with: Data(bytes))
    } catch {
      throw Refusal(.malformed, "no signed payload in it: it begins like JSON, but is not valid")
    }
    if let object = value as? [String: Any], isArchivedResponse(object) {
      return [.archivedResponse(bytes)]
    }
    var texts: [[UInt8]] = []
    collect(value, isSigned: false, into: &texts)
    return texts.map { .jws($0) }
  }

  private static func isArchivedResponse(_ object: [String: Any]) -> Bool {
    object["status"] != nil && (object["receipt"] != nil || object["latest_receipt_info"] != nil)
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
    case .receipt: throw Refusal(.malformed, "this is a receipt; use receipt submit")
    case .archivedResponse:
      throw Refusal(.malformed, "this is an archived response of verifyReceipt; use receipt import")
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
