import ArgumentParser
import CatalogFiles
import EntitlementDomain
import Programs

struct CatalogCheckCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "Checks catalog files, without a server.",
    discussion: """
      Prints every error and warning with its position. Exit code 0 when all files are valid \
      (warnings are allowed), 2 when a file is not valid, 1 when a file cannot be read; the \
      remaining files are still checked.
      """)

  @Argument(help: "Files, or - for stdin.")
  var files: [String]

  @OptionGroup var output: OutputOptions

  func run() throws {
    try FileCheck.run(
      files, output: output, check: Self.checked, summary: Self.summary,
      document: CatalogCheckDocument.init)
  }

  private static func checked(_ path: String) throws(CommandFailure) -> CheckedFile<Catalog> {
    try CheckedFile(at: path, limit: CatalogFile.maximumBytes) { text in
      do throws(CatalogError) {
        let contents = try CatalogFile.parse(text)
        return (contents.catalog, contents.warnings)
      } catch {
        return (nil, error.issues)
      }
    }
  }

  private static func summary(_ catalog: Catalog) -> [String] {
    [
      FileCheck.count(catalog.apps.count, "app", "apps"),
      FileCheck.count(catalog.products.count, "product", "products"),
      FileCheck.count(catalog.entitlements.count, "entitlement", "entitlements"),
      FileCheck.count(catalog.ruleCount, "grandfathering rule", "grandfathering rules"),
    ]
  }
}

extension Catalog {
  /// The number of grandfathering rules of all apps.
  var ruleCount: Int { grandfathering.values.reduce(0) { $0 + $1.count } }
}

/// A checked catalog in JSON. The format is a documented contract. Issues are
/// `entitle.v1.FileIssue`. Counts are absent when the file is not valid.
struct CatalogCheckDocument: Encodable {
  let file: String
  let valid: Bool
  let apps: Int?
  let products: Int?
  let entitlements: Int?
  let grandfatheringRules: Int?
  let issues: [JSONValue]

  init(_ checked: CheckedFile<Catalog>) throws {
    file = checked.file
    valid = checked.contents != nil
    apps = checked.contents?.apps.count
    products = checked.contents?.products.count
    entitlements = checked.contents?.entitlements.count
    grandfatheringRules = checked.contents?.ruleCount
    issues = try checked.issues.map { try JSONValue($0) }
  }
}
