extension History {
  /// The state at a moment, without its next transition.
  func state(of record: CustomerRecord, at now: Milliseconds) -> CustomerState {
    var gathering = StateGathering(history: self, now: now)
    for chain in chains { gathering.add(chain) }
    for purchases in purchases { gathering.add(purchases) }
    for position in grants.indices { gathering.addGrant(position) }
    for position in grandfathering.indices { gathering.addRule(position) }
    return gathering.state(of: record)
  }

  /// Every moment at which the state may change by itself (R30).
  func moments(around now: Milliseconds) -> TransitionMoments {
    var moments = TransitionMoments(around: now)
    for chain in chains { chain.noteMoments(leeway: renewalLeeway, in: &moments) }
    for purchases in purchases { purchases.noteMoments(in: &moments) }
    for grant in grants {
      moments.note(grant.starts)
      if let end = grant.end { moments.note(end) }
    }
    for (_, verdict) in grandfathering {
      if let since = verdict.since { moments.note(since) }
    }
    return moments
  }
}

extension Grant {
  /// R32.
  func isInForce(at now: Milliseconds) -> Bool {
    starts <= now && (end.map { now < $0 } ?? true)
  }
}

extension GrandfatheringVerdict {
  /// R39. Nobody has the app before they got it.
  func confers(at now: Milliseconds) -> Bool {
    state.outcome == .granted && (since.map { $0 <= now } ?? true)
  }
}
