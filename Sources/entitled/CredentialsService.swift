import AccessControl
import EntitlementService
import Foundation
import Logging
import ServiceLifecycle
import UnixSignals
import Wire

extension FileOnDisk {
  /// The source for ``CredentialsReloader``. Reading it blocks.
  var credentialsSource: CredentialsSource {
    CredentialsSource(user: Self.userID) { () throws(CredentialsSource.Unreadable) in
      do throws(Unreadable) {
        // Who can write the file can be any caller.
        return try bytes(limit: CredentialsFile.maximumBytes) { status in
          if status.st_mode & 0o022 != 0 { return "other users may write the file (chmod 640)" }
          if status.st_uid != 0, status.st_uid != geteuid() {
            return "the file belongs to another user than root and the server's"
          }
          return nil
        }
      } catch {
        throw CredentialsSource.Unreadable(error.description)
      }
    }
  }

  /// The number of a Unix user (getpwnam_r(3)).
  @Sendable
  private static func userID(_ name: String) -> UInt32? {
    var user = passwd()
    var found: UnsafeMutablePointer<passwd>?
    var buffer = [CChar](repeating: 0, count: 16_384)
    let result = getpwnam_r(name, &user, &buffer, buffer.count, &found)
    return result == 0 && found != nil ? user.pw_uid : nil
  }
}

/// Reads the file of credentials at startup.
enum CredentialsLoader {
  /// - Throws: ``StartFailure`` with all errors of the file, one on each line.
  static func load(
    _ file: FileOnDisk
  ) throws(StartFailure) -> (contents: CredentialsFile.Contents, digest: String) {
    let reading: CredentialsSource.Reading
    do {
      reading = try file.credentialsSource.read()
    } catch {
      throw StartFailure(
        .badConfiguration, "the credentials \(file.path) cannot be read: \(error.reason)")
    }
    do {
      return (try reading.contents.get(), reading.digest)
    } catch {
      let issues = error.issues.map { "\(file.path): \($0)" }.joined(separator: "\n")
      throw StartFailure(.badConfiguration, "the credentials are not valid\n\(issues)")
    }
  }
}

/// Reloads the credentials on SIGHUP and when their file changes, and repeats warnings daily.
struct CredentialsService: Service {
  /// Nil without access control.
  let reloader: CredentialsReloader?
  /// Of the file before it was read at startup.
  let initialVersion: FileOnDisk.Version?
  let file: FileOnDisk?
  let hangups: UnixSignalsSequence
  let logger: Logger

  private static let warningInterval = Duration.seconds(86_400)

  func run() async throws {
    guard let reloader, let file else {
      try? await gracefulShutdown()
      return
    }
    await cancelWhenGracefulShutdown {
      await withDiscardingTaskGroup { group in
        group.addTask { for await _ in hangups { _ = await reloader.reload() } }
        group.addTask {
          await FilePolling(files: [file]).run(seen: [initialVersion]) {
            await reloader.reload().isTransient
          }
        }
        group.addTask {
          while true {
            try? await Task.sleep(for: Self.warningInterval)
            if Task.isCancelled { return }
            for warning in reloader.warnings {
              logger.warning("configuration", metadata: ["issue": "\(warning)"])
            }
          }
        }
      }
    }
  }
}
