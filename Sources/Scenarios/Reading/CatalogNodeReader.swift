import CatalogFiles
import EntitlementDomain
import StoreSimulator
import Yams

/// Reads the catalog of a scenario: a file, inline content, or the simulated app's catalog.
struct CatalogNodeReader {
  let issues: IssueCollector
  let folder: ScenarioFolder

  /// - Parameter node: the path of a catalog file, or inline content; nil: the simulated app's
  ///   catalog.
  /// - Returns: nil when the catalog is not valid, which is reported.
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
    // The simulator's tests check that it is valid.
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

  /// Inline content is written as JSON and read like a catalog file. The fields of its issues then
  /// give the lines in the scenario.
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

  /// The content as JSON, which is valid YAML. All values are text; the catalog reader converts
  /// them.
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

  /// The line of the deepest part of the field that exists.
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
