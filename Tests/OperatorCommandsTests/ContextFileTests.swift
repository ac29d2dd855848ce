import Foundation
import Programs
import TestSupport
import Testing
import YAMLFiles

@testable import OperatorCommands

@Suite("The file of contexts")
struct ContextFileTests {
  private let folder: TemporaryFolder
  private let file: ContextFile

  init() throws {
    folder = try TemporaryFolder()
    file = try #require(ContextFile.ofUser(["XDG_CONFIG_HOME": folder.file("settings")]))
  }

  private func contexts() throws -> ServerContexts {
    var contexts = ServerContexts()
    contexts.set(
      "its",
      // Names need no quotes; values may need them.
      try ServerContext([.server: "unix:/a 'b': #c\\d", .tokenFile: "/tökens/*&!|>%@`"]))
    contexts.set(
      "all",
      try ServerContext([
        .server: "tls:[::1]:7443", .authorityFile: "/ca", .certificateFile: "/cert",
        .keyFile: "/key", .serverName: "null", .tokenFile: "/token", .bundleID: "123",
        .environment: "LocalTesting",
      ]))
    return contexts
  }

  @Test("What is written is read, from a private file in a private folder")
  func roundTrip() throws {
    #expect(try file.load() == ServerContexts())
    var contexts = try contexts()
    try file.save(contexts)
    #expect(try file.load() == contexts)
    let isUsed = contexts.use("all")
    #expect(isUsed)
    try file.save(contexts)
    #expect(try file.load().current == "all")
    let isRemoved = contexts.remove("all")
    #expect(isRemoved)
    try file.save(contexts)
    #expect(try file.load() == contexts)
    #expect(try file.load().current == nil)
    #expect(file.path == folder.file("settings/entitle/contexts.yaml"))
    for (path, mode) in [(file.path, 0o600), (folder.file("settings/entitle"), 0o700)] {
      let found = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
      #expect(found as? Int == mode, "\(path)")
    }
    let names = try FileManager.default.contentsOfDirectory(
      atPath: folder.file("settings/entitle"))
    #expect(names == ["contexts.yaml"])
  }

  @Test("A file or folder that others may write is refused", arguments: [0o602, 0o620, 0o666])
  func writable(mode: Int) throws {
    try file.save(try contexts())
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
    #expect(throws: CommandFailure.self) { try file.load() }
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
    _ = try file.load()
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o777], ofItemAtPath: folder.file("settings/entitle"))
    let error = #expect(throws: CommandFailure.self) { try file.load() }
    #expect(error?.message?.contains("other users may write it") == true)
  }

  @Test(
    "The folder of settings is that of the user",
    arguments: [
      (["XDG_CONFIG_HOME": "/x", "HOME": "/h"], "/x/entitle/contexts.yaml"),
      (["HOME": "/h"], "/h/.config/entitle/contexts.yaml"),
      // A relative path is ignored (XDG Base Directory Specification).
      (["XDG_CONFIG_HOME": "x", "HOME": "/h"], "/h/.config/entitle/contexts.yaml"),
      (["XDG_CONFIG_HOME": "", "HOME": "/h"], "/h/.config/entitle/contexts.yaml"),
      ([:], nil),
    ] as [([String: String], String?)])
  func place(environment: [String: String], path: String?) {
    #expect(ContextFile.ofUser(environment)?.path == path)
  }

  @Test(
    "A file that is not valid has the position of its first fault",
    arguments: [
      ("- a", 1, "a mapping is expected"), ("other: a", 1, "unknown field"),
      ("contexts:\n  a:\n    token: entl_x", 3, "unknown field"),
      ("contexts:\n  a:\n    token_file: /t", 3, "server: missing"),
      ("contexts:\n  a:\n    server: nowhere", 3, "server: "),
      ("contexts:\n  a:\n    server: a:1\n    tls_ca: /ca", 4, "the address needs tls:"),
      ("contexts:\n  a:\n    server: tls:a:1\n    tls_cert: /c", 4, "together with tls_key"),
      ("contexts:\n  a:\n    server: a:1\n    environment: moon", 4, "environment: "),
      ("contexts:\n  a:\n    server: a:1\n    bundle_id: ''", 4, "bundle_id: "),
      ("contexts:\n  a:\n    server: [a:1]", 3, "server: no text"),
      ("contexts:\n  a b: {server: 'a:1'}", 2, "not the name of a context"),
      ("contexts:\n  a: {server: 'a:1'}\ncurrent: b", 3, "current: not one of the contexts"),
      ("contexts:\n  a: {server: 'a:1'}\n  a: {server: 'a:1'}", 3, "the same key twice"),
    ])
  func faults(text: String, line: Int, message: String) {
    let error = #expect(throws: ContextFile.Fault.self) { try ContextFile.contexts(in: text) }
    #expect(error?.position.line == line)
    #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
  }

  @Test("Files that name no context are valid", arguments: ["", "contexts:", "contexts: {}"])
  func empty(text: String) throws {
    #expect(try ContextFile.contexts(in: text) == ServerContexts())
  }

  @Test("More contexts than the limit are refused")
  func limit() {
    let lines = (0...ServerContexts.maximumCount).map { "  c\($0): {server: 'a:1'}" }
    #expect(throws: ContextFile.Fault.self) {
      try ContextFile.contexts(in: "contexts:\n" + lines.joined(separator: "\n"))
    }
    #expect(throws: Never.self) {
      try ContextFile.contexts(in: "contexts:\n" + lines.dropLast().joined(separator: "\n"))
    }
  }
}
