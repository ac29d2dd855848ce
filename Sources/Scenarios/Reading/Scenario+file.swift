import EntitlementDomain
import Foundation
import Yams

extension Scenario {
  /// In bytes. Far above any scenario; the limit keeps a wrong file from filling the memory.
  private static let maximumBytes = 4 << 20

  /// Reads a scenario file.
  ///
  /// - Throws: ``ScenarioError/Code/unreadable``; ``ScenarioError/Code/malformed`` with all issues,
  ///   each with its line and field.
  package static func load(_ path: String) throws(ScenarioError) -> Scenario {
    let text = try ScenarioFolder.contents(of: path, limit: maximumBytes)
    return try parse(
      text, folder: ScenarioFolder(path: (path as NSString).deletingLastPathComponent))
  }

  /// Reads the text of a scenario file.
  ///
  /// - Parameter folder: the folder to which the paths in the file are relative.
  /// - Throws: as ``load(_:)``.
  static func parse(_ text: String, folder: ScenarioFolder) throws(ScenarioError) -> Scenario {
    let issues = IssueCollector()
    guard let root = try compose(text) else {
      throw ScenarioError(.malformed, "the file is empty")
    }
    var reader = ScenarioReader(values: ValueReader(issues: issues), folder: folder)
    let scenario = reader.scenario(from: root)
    guard issues.issues.isEmpty, let scenario else {
      throw ScenarioError(.malformed, issues: issues.sorted)
    }
    return scenario
  }

  private static func compose(_ text: String) throws(ScenarioError) -> Node? {
    do {
      // Nodes have weak references to their anchors, which the parser owns.
      let parser = try Parser(yaml: text)
      let root = try parser.singleRoot()
      let anchored = root.flatMap { firstAnchor(in: $0) }
      withExtendedLifetime(parser) {}
      if let anchored {
        throw ScenarioError(
          .malformed,
          issues: [
            ScenarioIssue(
              line: anchored.line, field: "",
              message: "anchors and aliases are not used; name facts under facts")
          ])
      }
      return root
    } catch let error as ScenarioError {
      throw error
    } catch let error as YamlError {
      throw ScenarioError(.malformed, issues: [issue(of: error)])
    } catch {
      throw ScenarioError(.malformed, "not YAML")
    }
  }

  /// Does not descend into an anchored node: aliases would multiply the work.
  private static func firstAnchor(in node: Node) -> Node? {
    if node.anchor != nil { return node }
    if let mapping = node.mapping {
      for (key, value) in mapping {
        if let found = firstAnchor(in: key) ?? firstAnchor(in: value) { return found }
      }
    } else if let sequence = node.sequence {
      for item in sequence {
        if let found = firstAnchor(in: item) { return found }
      }
    }
    return nil
  }

  private static func issue(of error: YamlError) -> ScenarioIssue {
    switch error {
    case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
      .composer(_, let problem, let mark, _):
      ScenarioIssue(line: mark.line, field: "", message: "not YAML: \(problem)")
    case .duplicatedKeysInMapping(let duplicates, let context):
      ScenarioIssue(
        line: context.mark.line, field: "",
        message: "the same key twice: \(duplicates.sorted().joined(separator: ", "))")
    default:
      ScenarioIssue(line: 1, field: "", message: "not YAML")
    }
  }
}

/// The folder of a scenario file. Paths in the file are relative to it.
struct ScenarioFolder: Sendable {
  let path: String

  /// - Throws: ``ScenarioError/Code/unreadable``.
  func contents(of relativePath: String, limit: Int) throws(ScenarioError) -> String {
    let isAbsolute = relativePath.hasPrefix("/")
    return try Self.contents(
      of: isAbsolute || path.isEmpty ? relativePath : "\(path)/\(relativePath)", limit: limit)
  }

  /// The text of a UTF-8 file.
  ///
  /// - Parameter limit: in bytes.
  /// - Throws: ``ScenarioError/Code/unreadable``.
  static func contents(of path: String, limit: Int) throws(ScenarioError) -> String {
    let data: Data
    do {
      let handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
      data = try handle.read(upToCount: limit + 1) ?? Data()
      try handle.close()
    } catch {
      throw ScenarioError(.unreadable, "the file cannot be read")
    }
    guard data.count <= limit else {
      throw ScenarioError(.unreadable, "the file is larger than \(limit) bytes")
    }
    guard let text = String(validating: data, as: UTF8.self) else {
      throw ScenarioError(.unreadable, "the file is not UTF-8")
    }
    return text
  }
}
