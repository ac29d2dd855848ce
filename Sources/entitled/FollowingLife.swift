import EntitlementService
import ServiceLifecycle

/// Learns what other nodes write, and deletes what is too old of the change feed.
struct FollowingLife: Service {
  let follower: ChangeFollower
  let trimmer: ChangeTrimmer

  func run() async throws {
    await cancelWhenGracefulShutdown {
      await withDiscardingTaskGroup { group in
        group.addTask { await follower.run() }
        group.addTask { await trimmer.run() }
      }
    }
  }
}
