import EntitlementDomain
import Foundation

/// Reads the catalog file at start.
enum CatalogLoader {
  /// - Throws: ``StartFailure`` with everything that is wrong with the file, a line each.
  static func load(_ path: String) throws(StartFailure) -> CatalogFile.Contents {
    let text: String
    do {
      text = try String(contentsOfFile: path, encoding: .utf8)
    } catch {
      throw StartFailure(.badCatalog, "the catalog \(path) cannot be read, or is not UTF-8")
    }
    do {
      return try CatalogFile.parse(text)
    } catch {
      let issues = error.issues.map { "\(path): \($0)" }.joined(separator: "\n")
      throw StartFailure(.badCatalog, "the catalog is not valid\n\(issues)")
    }
  }
}
