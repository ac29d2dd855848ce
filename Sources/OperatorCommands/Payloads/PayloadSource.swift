import EntitlementDomain
import Foundation

/// One signed payload, and where it came from.
struct SourcedPayload {
  /// The file and, where it holds several, the line or the position: `history.json#3`.
  let name: String
  let jws: [UInt8]
}

/// Reads signed payloads from files: one JWS a line, or JSON as Apple's API returns it, in which
/// every text under a name that begins with `signed` is taken. Of one JSON object the transactions
/// come before the renewal infos, which are bound to an app through them.
enum PayloadSource {
  /// Far above a page of Apple's API; keeps a wrong file from filling the memory.
  static let maximumFileBytes = 256 << 20

  /// - Parameter path: `-` is stdin.
  /// - Throws: ``CommandFailure`` when the file cannot be read or holds none.
  static func payloads(in path: String) throws -> [SourcedPayload] {
    let bytes = try contents(of: path)
    let name = path == "-" ? "stdin" : path
    let first = bytes.first { !isBlank($0) }
    let texts =
      first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
      ? try signedTexts(inJSON: bytes, name: name) : lines(of: bytes)
    guard !texts.isEmpty else {
      throw CommandFailure(.failed, "\(name): no signed payload in it")
    }
    guard texts.count > 1 else { return [SourcedPayload(name: name, jws: texts[0])] }
    return texts.enumerated().map { SourcedPayload(name: "\(name)#\($0 + 1)", jws: $1) }
  }

  private static func contents(of path: String) throws -> [UInt8] {
    let data: Data
    do {
      let handle =
        path == "-"
        ? FileHandle.standardInput
        : try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
      data = try handle.read(upToCount: maximumFileBytes + 1) ?? Data()
    } catch {
      throw CommandFailure(.failed, "\(path): cannot be read")
    }
    guard data.count <= maximumFileBytes else {
      throw CommandFailure(.failed, "\(path): larger than \(maximumFileBytes >> 20) MiB")
    }
    return [UInt8](data)
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

  private static func signedTexts(inJSON bytes: [UInt8], name: String) throws -> [[UInt8]] {
    let value: Any
    do {
      value = try JSONSerialization.jsonObject(with: Data(bytes))
    } catch {
      throw CommandFailure(.failed, "\(name): not JSON")
    }
    var texts: [[UInt8]] = []
    collect(value, isSigned: false, into: &texts)
    return texts
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
