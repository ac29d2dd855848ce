/// The fields of a mapping, each taken once.
struct CatalogFields {
  private var nodes: [String: YAMLNode]

  init(_ nodes: [String: YAMLNode]) {
    self.nodes = nodes
  }

  mutating func take(_ name: String) -> YAMLNode? { nodes.removeValue(forKey: name) }
}
