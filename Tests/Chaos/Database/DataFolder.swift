import Foundation
import Glibc

/// The folder of a database node's data: a small file system where this machine allows mounting
/// one, so that its disk can be full.
struct DataFolder: Sendable {
  enum Kind: Sendable {
    /// A tmpfs, which is made smaller than its contents need.
    case mounted
    /// The processes of the node have a limit on the length of files.
    case limited
  }

  let path: String
  let kind: Kind

  /// Enough for a run of an hour.
  private static let megabytes = 2_048
  /// The free space on a full disk, so that some writes still begin.
  private static let leftBytes: UInt64 = 128 << 10
  /// Less than one segment of the write-ahead log.
  private static let longestFile = 512 << 10

  /// - Parameter owner: the user of the database; nil for the user of this program.
  static func make(at path: String, owner: String?) async throws -> DataFolder {
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    let options = "size=\(megabytes)m,mode=700"
    let mount = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", path]
    var isMounted = false
    if geteuid() == 0 { isMounted = (try? await Tool.run(mount, in: "/")) != nil }
    if let owner { try await Tool.run(["chown", owner, path], in: "/") }
    return DataFolder(path: path, kind: isMounted ? .mounted : .limited)
  }

  var data: String { path + "/data" }

  /// The kind of full disk.
  var description: String {
    switch kind {
    case .mounted: "a tmpfs without room"
    case .limited: "a limit on the length of files, since no file system can be mounted here"
    }
  }

  /// Takes all free space from now on.
  func fill() async throws {
    switch kind {
    case .mounted:
      var status = statvfs()
      guard statvfs(path, &status) == 0 else { throw ChaosFailure("statvfs failed on \(path)") }
      let used = UInt64(status.f_blocks - status.f_bfree) * UInt64(status.f_frsize)
      try await resize("\((used + Self.leftBytes) >> 10)k")
    case .limited:
      try await limit("\(Self.longestFile)")
    }
  }

  func relieve() async throws {
    switch kind {
    case .mounted: try await resize("\(Self.megabytes)m")
    case .limited: try await limit("unlimited")
    }
  }

  func remove() async {
    if case .mounted = kind { _ = try? await Tool.run(["umount", "--lazy", path], in: "/") }
    try? FileManager.default.removeItem(atPath: path)
  }

  private func resize(_ size: String) async throws {
    try await Tool.run(["mount", "-o", "remount,size=\(size)", path], in: "/")
  }

  /// Sets the soft limit only, which can be raised again.
  private func limit(_ bytes: String) async throws {
    for process in ProcessTable.processes(in: data) {
      // A process that has ended meanwhile is skipped.
      _ = try? await Tool.run(
        ["prlimit", "--pid", "\(process)", "--fsize=\(bytes):unlimited"], in: "/")
    }
  }
}
