import EntitlementDomain
import Foundation
import Yams

extension Scenario {
  /// Far above any scenario; keeps a wrong file from filling the memory.
  private static let maximumBytes = 4 << 20

  /// Reads a scenario file.
  ///
  /// - Throws: ``ScenarioError/Code/unreadable``; ``ScenarioError/Code/malformed`` with everything
  ///   that is wrong, each with its line and field.
  package static func load(_ path: String) throws(ScenarioError) -> Scenario {
    let text = try ScenarioFolder.contents(of: path, limit: maximumBytes)
    return try parse(
      text, folder: ScenarioFolder(path: (path as NSString).deletingLastPathComponent))
  }

  /// Reads the text of a scenario file.
  ///
  /// - Parameter folder: where the files lie that it names.
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
      // Anchors are known as long as the parser lives.
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

  /// Does not look into what is anchored: aliases would multiply it.
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
