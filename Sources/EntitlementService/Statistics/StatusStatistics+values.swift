package import Verification

extension StatusStatistics {
  package var values: [StatisticValue] {
    [
      StatisticValue("certificate_status.asked", asked),
      StatisticValue("certificate_status.good", good),
      StatisticValue("certificate_status.revoked", revoked),
      StatisticValue("certificate_status.unknown", unknown),
      StatisticValue("certificate_status.unusable", unusable),
      StatisticValue("certificate_status.unreachable", unreachable),
      StatisticValue("certificate_status.without_responder", withoutResponder),
      StatisticValue("certificate_status.turned_away", turnedAway),
      StatisticValue("certificate_status.hits", hits),
      StatisticValue("certificate_status.joined", joined),
      StatisticValue("certificate_status.undecided", undecided),
      StatisticValue("certificate_status.entries", entries),
    ]
  }
}
