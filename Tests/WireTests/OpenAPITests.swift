import Foundation
import Testing
import Yams

@testable import Wire

/// deploy/docs/openapi.yaml, which deploy/generate-messages writes from `Protos/` by its own reading.
@Suite("The OpenAPI document")
struct OpenAPITests {
  private static func schemas() throws -> [String: Node] {
    // A linked copy of the package contains only its Sources and Tests.
    let root = URL(filePath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let text = try String(
      contentsOf: root.appending(path: "deploy/docs/openapi.yaml"), encoding: .utf8)
    let document = try #require(try Yams.compose(yaml: text))
    let schemas = try #require(document["components"]?["schemas"]?.mapping)
    return Dictionary(
      uniqueKeysWithValues: schemas.compactMap { name, schema in name.string.map { ($0, schema) } })
  }

  @Test(
    "It has every message of Protos, with the names and kinds of JSON that the codec reads and writes"
  )
  func messages() throws {
    let schemas = try Self.schemas()
    for type in MessageType.all {
      let properties = schemas[type.name]?["properties"]?.mapping
      let described = properties?.keys.compactMap(\.string) ?? []
      #expect(Set(described) == Set(type.fields.map(\.name)), "\(type.name)")
      #expect(schemas[type.name]?["type"]?.string == "object")
      for field in type.fields {
        let property = properties?[Node(field.name)]
        #expect((property?["type"]?.string == "array") == field.isRepeated)
        let value = field.isRepeated ? property?["items"] : property
        #expect(
          Self.kind(of: value, schemas) == Self.kind(of: field.kind),
          "\(type.name).\(field.name)")
      }
    }
    let objects = schemas.filter { $0.value["type"]?.string == "object" }.keys
    #expect(Set(objects) == Set(MessageType.all.map(\.name)).union(["Error", "ErrorDetail"]))
  }

  private static func kind(of schema: Node?, _ schemas: [String: Node]) -> String? {
    if let reference = schema?["$ref"]?.string {
      let name = String(reference.dropFirst("#/components/schemas/".count))
      let values = schemas[name]?["enum"]?.sequence?.compactMap(\.string)
      return values.map { "one of \($0.sorted())" } ?? name
    }
    // The codec writes integers of 64 bits as strings.
    return schema?["format"]?.string == "int64" ? "integer" : schema?["type"]?.string
  }

  private static func kind(of kind: MessageField.Kind) -> String {
    switch kind {
    case .text: "string"
    case .integer: "integer"
    case .floatingPoint: "number"
    case .boolean: "boolean"
    case .enumeration(let names): "one of \(names.sorted())"
    case .message(let type): type.name
    }
  }
}
