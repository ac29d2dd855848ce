import Yams

/// The fields of one mapping, each taken once.
struct NodeFields {
  let node: Node
  let path: String
  private var nodes: [String: Node] = [:]

  /// Reports every field that is not allowed; nil when the node is no mapping.
  init?(_ node: Node, at path: String, allowed: [String], issues: IssueCollector) {
    let list = allowed.joined(separator: ", ")
    guard let mapping = node.mapping else {
      issues.report("a mapping is expected, with the fields \(list)", at: path, node)
      return nil
    }
    self.node = node
    self.path = path
    for (key, value) in mapping {
      let name = key.scalar?.string ?? ""
      guard allowed.contains(name) else {
        issues.report("unknown field; allowed: \(list)", at: Self.join(path, name), key)
        continue
      }
      nodes[name] = value
    }
  }

  mutating func take(_ name: String) -> Node? { nodes.removeValue(forKey: name) }

  func contains(_ name: String) -> Bool { nodes[name] != nil }

  func path(of name: String) -> String { Self.join(path, name) }

  static func join(_ path: String, _ name: String) -> String {
    path.isEmpty ? name : "\(path).\(name)"
  }
}
