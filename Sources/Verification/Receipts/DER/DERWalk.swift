/// The structure of DER input, checked before OpenSSL parses it.
package struct DERWalk: Hashable, Sendable {
  /// Number of elements, nested ones included.
  package let elements: Int
  /// Maximum nesting depth; 1 for an element without nested elements.
  package let depth: Int

  /// Visits every element without recursion, so that the limits bound the cost.
  ///
  /// - Parameters:
  ///   - bytes: exactly one element. The contents of octet strings and bit strings are not visited.
  ///   - maximumElements: maximum number of elements.
  ///   - maximumDepth: maximum nesting depth.
  /// - Throws: ``Refusal`` with ``Verdict/malformed`` when the input is not DER or exceeds a limit.
  package init(
    _ bytes: [UInt8], maximumElements: Int = VerificationLimits.receiptElements,
    maximumDepth: Int = VerificationLimits.receiptDepth
  ) throws(Refusal) {
    var elements = 0
    var depth = 0
    var open = [DERReader(bytes)]
    while var reader = open.popLast() {
      guard !reader.isAtEnd else { continue }
      let element = try reader.next()
      // The outermost reader has one element.
      if open.isEmpty { try reader.expectEnd(of: "DER") }
      open.append(reader)
      elements += 1
      depth = max(depth, open.count)
      guard elements <= maximumElements else {
        throw DERReader.malformed("it has more than \(maximumElements) elements")
      }
      guard depth <= maximumDepth else {
        throw DERReader.malformed("it nests deeper than \(maximumDepth)")
      }
      if DERTag.isConstructed(element.tag) { open.append(DERReader(bytes, inside: element)) }
    }
    guard elements > 0 else { throw DERReader.malformed("it is empty") }
    self.elements = elements
    self.depth = depth
  }
}
