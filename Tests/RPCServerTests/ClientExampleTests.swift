import Foundation
import Testing

@Suite("The examples of the client's documentation")
struct ClientExampleTests {
  @Test(
    "Each function is compiled here",
    arguments: [
      "README.md", "deploy/docs/client.md",
      "Sources/RPCClient/RPCClient.docc/GettingStarted.md",
      "Sources/RPCClient/RPCClient.docc/ErrorsAndRetries.md",
    ])
  func compiled(path: String) throws {
    let folder = URL(filePath: #filePath).deletingLastPathComponent()
    let documentation = try String(
      contentsOf: folder.appending(path: "../../\(path)"), encoding: .utf8)
    let compiled = try String(
      contentsOf: folder.appending(path: "ClientExamples.swift"), encoding: .utf8)
    let examples = documentation.components(separatedBy: "```swift\n").dropFirst()
      .compactMap { $0.components(separatedBy: "\n```").first }
      .map { $0.replacing("import RPCClient\n\n", with: "") }
      .filter { $0.contains("func ") }
    try #require(!examples.isEmpty)
    for example in examples {
      #expect(compiled.contains(example))
    }
  }
}
