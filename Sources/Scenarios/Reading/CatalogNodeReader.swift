import EntitlementDomain
import StoreSimulator
import Yams

/// Reads the catalog that a scenario names or holds.
struct CatalogNodeReader {
  let issues: IssueCollector
  let folder: ScenarioFolder

  /// - Parameter node: the path of a file, or its content; nil: the simulated app's.
  /// - Returns: nil when it cannot be used, which is reported.
  func catalog(_ node: Node?, at path: String) -> Catalog? {
    guard let node else { return simulated }
    if let scalar = node.scalar, !node.isNull { return file(scalar.string, node, at: path) }
    guard node.mapping != nil else {
      issues.report("the path of a catalog file, or its content, is expected", at: path, node)
      return nil
    }
    return content(node, at: path)
  }

  private var simulated: Catalog? {
    // The simulator's own tests hold it valid.
    try? CatalogFile.parse(SimulatedApp.catalogYAML).catalog
  }

  private func file(_ relativePath: String, _ node: Node, at path: String) -> Catalog? {
    do {
      let text = try folder.contents(of: relativePath, limit: CatalogFile.maximumBytes)
      return try CatalogFile.parse(text).catalog
    } catch let error as CatalogError {
      for issue in error.issues where issue.severity == .error {
        issues.report("\(relativePath): \(issue.description)", at: path, node)
      }
    } catch let error as ScenarioError {
      for issue in error.issues {
        issues.report("\(relativePath): \(issue.message)", at: path, node)
      }
    } catch {
      issues.report("\(relativePath): cannot be used", at: path, node)
    }
    return nil
  }

  /// The content goes through the catalog's own reader, as text of its own. So its issues are found
  /// in the scenario by their fields.
  private func content(_ node: Node, at path: String) -> Catalog? {
    do {
      return try CatalogFile.parse(Self.object(node).text).catalog
    } catch {
      for issue in error.issues where issue.severity == .error {
        issues.report(
          issue.message, at: NodeFields.join(path, issue.field),
          line: Self.line(of: issue.field, in: node))
      }
      return nil
    }
  }

  /// As JSON, which every reader of YAML understands. All values are text, as they are in YAML until
  /// somebody asks for another form.
  private static func object(_ node: Node) -> PayloadObject {
    var object = PayloadObject()
    for (key, value) in node.mapping ?? [:] { object[key.scalar?.string ?? ""] = text(value) }
    return object
  }

  private static func text(_ node: Node) -> PayloadValue {
    if node.mapping != nil { return .object(object(node)) }
    if let sequence = node.sequence { return .list(sequence.map { text($0) }) }
    return .text(node.isNull ? "" : node.scalar?.string ?? "")
  }

  /// Of the deepest part of the field that there is.
  private static func line(of field: String, in root: Node) -> Int {
    var node = root
    for part in field.split(whereSeparator: { ".[]".contains($0) }) {
      let next =
        if let index = Int(part), let sequence = node.sequence {
          sequence.indices.contains(index) ? sequence[index] : nil
        } else {
          node.mapping?[String(part)]
        }
      guard let next else { break }
      node = next
    }
    return node.line
  }
}
