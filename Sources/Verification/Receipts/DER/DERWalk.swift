/// What a DER text is made of, found before any other library looks at it.
package struct DERWalk: Hashable, Sendable {
  package let elements: Int
  /// How many elements are inside each other at most; 1 for one that holds none.
  package let depth: Int

  /// Visits every element, without recursion, so that neither depth nor number cost more than the
  /// limits say.
  ///
  /// - Parameters:
  ///   - bytes: one element and nothing after it. What is inside octet strings and bit strings
  ///     stays unread.
  ///   - maximumElements: how many there may be.
  ///   - maximumDepth: how deep they may nest.
  /// - Throws: ``Refusal`` with ``Verdict/malformed`` when it is not DER, or beyond a limit.
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
