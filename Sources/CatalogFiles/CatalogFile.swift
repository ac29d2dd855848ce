package import EntitlementDomain
import YAMLFiles

/// Parses catalog files. The format is the subset of YAML that ``YAMLReader`` reads, which includes
/// JSON.
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
///     offers:
///       - id: back-for-half
///         kind: promotional
///         for: [cancelled, lapsed]
/// grandfathering:
///   - id: paid-era
///     bundle_id: com.example.scribe
///     entitlements: [pro]
///     original_version_before: {iOS: "108", macOS: "2.0"}
///     original_purchase_date_before: 2024-03-01T00:00:00Z
/// ```
package enum CatalogFile {
  /// In bytes, far above any real catalog. It bounds the memory that a wrong file can use.
  package static let maximumBytes = 4 << 20

  /// A valid catalog with its warnings.
  package struct Contents: Sendable {
    package let catalog: Catalog
    /// In the order of the file.
    package let warnings: [FileIssue]
  }

  /// Parses a catalog.
  ///
  /// - Throws: ``CatalogError`` with all issues, each with its line and field.
  package static func parse(_ text: String) throws(CatalogError) -> Contents {
    guard text.utf8.count <= maximumBytes else {
      throw refusal(
        "the file is larger than \(maximumBytes) bytes", at: YAMLPosition(line: 1, column: 1))
    }
    let root: YAMLNode?
    do {
      root = try YAMLReader.document(in: text)
    } catch {
      throw refusal("not YAML: \(error.message)", at: error.position)
    }
    guard let root else {
      throw refusal("the file is empty", at: YAMLPosition(line: 1, column: 1))
    }
    var reader = CatalogReader()
    let catalog = reader.catalog(from: root)
    guard !reader.issues.hasErrors else { throw CatalogError(issues: reader.issues.sorted) }
    return Contents(catalog: catalog, warnings: reader.issues.sorted)
  }

  private static func refusal(_ message: String, at position: YAMLPosition) -> CatalogError {
    CatalogError(issues: [
      FileIssue(
        severity: .error, line: position.line, column: position.column, field: "",
        message: message)
    ])
  }
}
