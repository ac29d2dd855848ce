package import EntitlementDomain

/// Something wrong, or doubtful, in a catalog, in JSON: the fields of `entitle.v1.CatalogIssue`, by
/// the same names.
package struct CatalogIssueDocument: Encodable {
  let error: Bool
  let line: Int
  let column: Int
  let field: String
  let message: String

  package init(_ issue: CatalogIssue) {
    error = issue.severity == .error
    line = issue.line
    column = issue.column
    field = issue.field
    message = issue.message
  }
}
