/// An input that a fuzzer begins from.
package struct FuzzSeed: Sendable, CustomStringConvertible {
  /// Fit for a file's name, and its own within a target.
  package let name: String
  package let bytes: [UInt8]

  package init(_ name: String, _ bytes: [UInt8]) {
    self.name = name
    self.bytes = bytes
  }

  package var description: String { name }
}
