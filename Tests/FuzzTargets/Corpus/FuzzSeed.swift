/// An initial input of a fuzzer.
package struct FuzzSeed: Sendable, CustomStringConvertible {
  /// Valid as a file name, and unique within a target.
  package let name: String
  package let bytes: [UInt8]

  package init(_ name: String, _ bytes: [UInt8]) {
    self.name = name
    self.bytes = bytes
  }

  package var description: String { name }
}
