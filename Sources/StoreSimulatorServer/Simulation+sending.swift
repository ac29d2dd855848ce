import EntitlementDomain
import StoreSimulator

// Posts the notifications that are due, and lets clients know the time first.
extension Simulation {
  /// How many postings are in flight. Those of one customer follow each other.
  private static let postingsInFlight = 16
  private static let postingsAtOnce = 256
  /// The real time after which a batch begins no further posting.
  private static let batchTime = Duration.seconds(5)

  // MARK: The clients that follow the clock

  /// Notifies clients waiting for a revision. Nothing is posted until these have asked again, or
  /// their time is over: they would judge a notification by the old time.
  func notifyFollowers() {
    let (count, revision) = (waiting.count, clock.revision)
    waiting.changed(revision)
    let limit = configuration.followerPatience
    notifying = Task { [waiting, earlier = notifying] in
      await earlier?.value
      await waiting.awaitPolls(count, of: revision, for: limit)
    }
  }

  // MARK: Notifications

  /// Sends what is due by a moment: one batch after the other, so that the order is kept. Ends
  /// earlier, with the rest still due, at the deadline, when the task is cancelled, and when the
  /// simulator stops; a batch that has begun ends first.
  func send(
    until moment: Milliseconds, deadline: ContinuousClock.Instant?, tally: inout PlayTally
  ) async {
    guard let sender else { return }
    // What another call is sending counts as due.
    _ = await sending?.value
    while let due = outbox.nextDue, due <= moment {
      await notifying?.value
      guard !Task.isCancelled, !isStopping, deadline.map({ ContinuousClock.now < $0 }) ?? true
      else { return }
      if let sending {
        _ = await sending.value
        continue
      }
      let batch = Task { await sendBatch(by: sender, until: moment, deadline: deadline) }
      sending = batch
      tally.add(await batch.value)
    }
  }

  /// Ends the postings in flight; they stay due. None begins from now on.
  func stopSending() {
    isStopping = true
    sending?.cancel()
    notifying?.cancel()
  }

  private func sendBatch(
    by sender: NotificationSender, until moment: Milliseconds, deadline: ContinuousClock.Instant?
  ) async -> PlayTally {
    defer { sending = nil }
    let batchEnd = ContinuousClock.now + Self.batchTime
    let end = deadline.map { min($0, batchEnd) } ?? batchEnd
    let postings = outbox.takeDue(until: moment, count: Self.postingsAtOnce)
    let isLast: (NotificationOutbox.Posting) -> Bool = { $0.fault == .reordered }
    var lanes: [Int: [NotificationOutbox.Posting]] = [:]
    for posting in postings.filter({ !isLast($0) }) + postings.filter(isLast).reversed() {
      lanes[posting.customer ?? -1, default: []].append(posting)
    }
    var tally = PlayTally()
    var waiting = lanes.sorted { $0.key < $1.key }.map(\.value)[...]
    await withTaskGroup(of: [(NotificationOutbox.Posting, NotificationSender.Outcome?)].self) {
      group in
      for lane in waiting.prefix(Self.postingsInFlight) {
        group.addTask { await Self.post(lane, by: sender, until: end) }
      }
      waiting = waiting.dropFirst(Self.postingsInFlight)
      while let outcomes = await group.next() {
        if let lane = waiting.popFirst() {
          group.addTask { await Self.post(lane, by: sender, until: end) }
        }
        for (posting, outcome) in outcomes {
          guard let outcome else {
            outbox.putBack(posting)
            continue
          }
          outbox.attempted(
            posting.number, result: outcome.result, isRetried: outcome.isRetried, at: posting.at)
          tally.attempts += 1
          if outcome.result == .success { tally.delivered += 1 }
        }
      }
    }
    return tally
  }

  /// - Returns: what came of each posting; nil when it was not made, or was cancelled.
  private static func post(
    _ postings: [NotificationOutbox.Posting], by sender: NotificationSender,
    until end: ContinuousClock.Instant
  ) async -> [(NotificationOutbox.Posting, NotificationSender.Outcome?)] {
    var outcomes: [(NotificationOutbox.Posting, NotificationSender.Outcome?)] = []
    for posting in postings {
      guard !Task.isCancelled, ContinuousClock.now < end else {
        outcomes.append((posting, nil))
        continue
      }
      switch posting.fault {
      case .lost:
        outcomes.append((posting, .init(result: .success, isRetried: false)))
      case .failed:
        outcomes.append((posting, .init(result: .noResponse, isRetried: true)))
      case .doubled, .late, .reordered, nil:
        let outcome = await sender.post(posting.signedPayload)
        outcomes.append((posting, outcome))
        if posting.fault == .doubled, outcome != nil {
          _ = await sender.post(posting.signedPayload)
        }
      }
    }
    return outcomes
  }
}
