import EntitlementDomain
import EntitlementService

/// Reads the catalog file at start.
enum CatalogLoader {
  /// - Returns: the catalog with its digest.
  /// - Throws: ``StartFailure`` with everything that is wrong with the file, a line each.
  static func load(_ path: String) throws(StartFailure) -> (
    contents: CatalogFile.Contents, digest: String
  ) {
    let reading: CatalogSource.Reading
    do {
      reading = try CatalogFileOnDisk(path: path).source.read()
    } catch {
      throw StartFailure(.badCatalog, "the catalog \(path) cannot be read: \(error.reason)")
    }
    do {
      return (try reading.contents.get(), reading.digest)
    } catch {
      let issues = error.issues.map { "\(path): \($0)" }.joined(separator: "\n")
      throw StartFailure(.badCatalog, "the catalog is not valid\n\(issues)")
    }
  }
}
