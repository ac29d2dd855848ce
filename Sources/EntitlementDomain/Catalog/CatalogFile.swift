import Yams

/// Reads the catalog's YAML form.
///
/// ```yaml
/// version: 1
/// renewal_leeway: PT0S
/// apps:
///   - bundle_id: com.example.scribe
///     app_apple_id: 1234567890
///     environments: [Production, Sandbox]
/// entitlements:
///   - id: pro
///     description: Everything in Scribe Pro
/// products:
///   - id: com.example.scribe.pro.monthly
///     type: auto_renewable
///     group: "21000001"
///     level: 1
///     entitlements: [pro]
/// ```
package enum CatalogFile {
  /// Far above any real catalog; keeps a wrong file from filling the memory.
  package static let maximumBytes = 4 << 20

  package struct Contents: Sendable {
    package let catalog: Catalog
    package let warnings: [CatalogIssue]
  }

  /// - Throws: everything that is wrong, each with its line and field.
  package static func parse(_ text: String) throws(CatalogError) -> Contents {
    guard text.utf8.count <= maximumBytes else {
      throw CatalogError(issues: [
        issue("the file is larger than \(maximumBytes) bytes", line: 1, column: 1)
      ])
    }
    let root: Node?
    do {
      root = try Yams.compose(yaml: text)
    } catch let error as YamlError {
      throw CatalogError(issues: [issue(of: error)])
    } catch {
      throw CatalogError(issues: [issue("not YAML", line: 1, column: 1)])
    }
    guard let root else {
      throw CatalogError(issues: [issue("the file is empty", line: 1, column: 1)])
    }
    var reader = CatalogReader()
    let catalog = reader.catalog(from: root)
    let issues = reader.issues.sorted { ($0.line, $0.column) < ($1.line, $1.column) }
    guard !issues.contains(where: { $0.severity == .error }) else {
      throw CatalogError(issues: issues)
    }
    return Contents(catalog: catalog, warnings: issues)
  }

  private static func issue(_ message: String, line: Int, column: Int) -> CatalogIssue {
    CatalogIssue(severity: .error, line: line, column: column, field: "", message: message)
  }

  private static func issue(of error: YamlError) -> CatalogIssue {
    switch error {
    case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
      .composer(_, let problem, let mark, _):
      issue("not YAML: \(problem)", line: mark.line, column: mark.column)
    case .duplicatedKeysInMapping(let duplicates, let context):
      issue(
        "the same key twice: \(duplicates.map { String(describing: $0) }.joined(separator: ", "))",
        line: context.mark.line, column: context.mark.column)
    default:
      issue("not YAML", line: 1, column: 1)
    }
  }
}
