import Cryptography
package import EntitlementDomain
import JSON

/// Identifies what a payload says, whenever it was signed (R53): the first 16 bytes of a SHA-256.
package struct StatementDigest: Hashable, Comparable, Sendable {
  package static let length = 16

  private let words: (UInt64, UInt64)

  /// - Parameter bytes: exactly ``length`` bytes.
  package init?(_ bytes: some Collection<UInt8>) {
    guard bytes.count == Self.length else { return nil }
    func word(_ bytes: some Sequence<UInt8>) -> UInt64 {
      bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }
    words = (word(bytes.prefix(8)), word(bytes.dropFirst(8)))
  }

  /// The digest of the members of a payload, without those that differ with each signing. Neither
  /// the order of the members nor the white space between them counts.
  ///
  /// - Throws: ``StoreError/Code/corrupt`` when the payload is not a JSON object, which no verified
  ///   payload is.
  package init(of payload: [UInt8], authority: FactAuthority) throws(StoreError) {
    let document: JSONDocument
    do throws(JSONError) {
      document = try JSONDocument(payload)
    } catch {
      throw StoreError(.corrupt, "a payload is not JSON")
    }
    guard document.nodes[0].kind == .object else {
      throw StoreError(.corrupt, "a payload is not a JSON object")
    }
    var text: [UInt8] = [UInt8(authority.rawValue)]
    text.reserveCapacity(payload.count)
    for (name, value) in document.members.sorted(by: { $0.name.lexicographicallyPrecedes($1.name) })
    where !Self.namesOfSigning.contains(name) {
      for part in [name[...], value] {
        // Lengths instead of separators, which a name could contain.
        withUnsafeBytes(of: UInt32(part.count).bigEndian) { text += $0 }
        text += part
      }
    }
    do throws(CryptographyError) {
      let digest = try SHA256.digest(of: text).words
      words = (digest.0, digest.1)
    } catch {
      throw StoreError(.internalFault, "hashing a payload failed")
    }
  }

  /// Members that an app's device sets anew for each signature.
  private static let namesOfSigning: Set<[UInt8]> = Set(
    ["signedDate", "deviceVerification", "deviceVerificationNonce"].map { Array($0.utf8) })

  package var bytes: [UInt8] { payloadDigest.bytes }

  /// The digest in the form of a payload's, for the order of versions.
  package var payloadDigest: PayloadDigest { PayloadDigest(words: words) }

  package static func == (left: Self, right: Self) -> Bool { left.words == right.words }

  package static func < (left: Self, right: Self) -> Bool { left.words < right.words }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(words.0)
  }
}

extension JSONDocument {
  /// The members of the outermost object: the unescaped name, and the text of the value.
  fileprivate var members: [(name: [UInt8], value: ArraySlice<UInt8>)] {
    var members: [(name: [UInt8], value: ArraySlice<UInt8>)] = []
    var index = 1
    while index < Int(nodes[0].next) {
      let value = nodes[index + 1]
      // The bounds of a string exclude its quotes.
      let quote = value.kind == .string ? 1 : 0
      members.append(
        (
          content(ofStringAt: index),
          bytes[(Int(value.start) - quote)..<(Int(value.end) + quote)]
        ))
      index = Int(value.next)
    }
    return members
  }
}
