import Foundation

/// JSON with the field names of `Protos/`, in alphabetical order.
package enum JSONText {
  package static func indented(_ value: some Encodable) throws -> String {
    try text(of: value, formatting: [.prettyPrinted])
  }

  package static func line(_ value: some Encodable) throws -> String {
    try text(of: value, formatting: [])
  }

  private static func text(
    of value: some Encodable, formatting: JSONEncoder.OutputFormatting
  ) throws -> String {
    let encoder = JSONEncoder()
    encoder.keyEncodingStrategy = .convertToSnakeCase
    encoder.outputFormatting = formatting.union([.sortedKeys, .withoutEscapingSlashes])
    return String(decoding: try encoder.encode(value), as: UTF8.self)
  }
}
