extension WorkerPool {
  /// What the pool is doing and has done for one priority. Counts are of items.
  package struct Work: Hashable, Sendable {
    package var queued = 0
    package var running = 0
    package var done = 0
    /// Admitted and not done: the deadline had passed, the caller had given up, or there was no time
    /// left before the end.
    package var givenUp = 0
    /// Turned away because there was no room.
    package var turnedAway = 0
    /// The weight of what is queued and running.
    package var weight = 0
    /// Pieces that workers have ended: what ``waitingTime`` and ``workingTime`` are the sums of.
    package var pieces = 0
    /// How long those pieces waited for a worker.
    package var waitingTime = Duration.zero
    /// How long workers were busy with them, on the clock and not of the processor.
    package var workingTime = Duration.zero
  }

  package struct Statistics: Hashable, Sendable {
    package var interactive = Work()
    package var bulk = Work()

    package subscript(priority: WorkPriority) -> Work {
      get {
        switch priority {
        case .interactive: interactive
        case .bulk: bulk
        }
      }
      set {
        switch priority {
        case .interactive: interactive = newValue
        case .bulk: bulk = newValue
        }
      }
    }

    /// Sums over both priorities.
    package var queued: Int { interactive.queued + bulk.queued }
    package var running: Int { interactive.running + bulk.running }
    package var done: Int { interactive.done + bulk.done }
    package var givenUp: Int { interactive.givenUp + bulk.givenUp }
    package var turnedAway: Int { interactive.turnedAway + bulk.turnedAway }
    package var weight: Int { interactive.weight + bulk.weight }
    package var pieces: Int { interactive.pieces + bulk.pieces }
    package var waitingTime: Duration { interactive.waitingTime + bulk.waitingTime }
    package var workingTime: Duration { interactive.workingTime + bulk.workingTime }
  }
}
