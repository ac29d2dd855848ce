import EntitlementService
import MetricsExposition
import Testing

@testable import ServiceMetrics

@Suite("Metrics of the values of GetStatistics")
struct StatisticMappingTests {
  private func samples(_ name: String, _ value: Int64 = 5) -> [String: [MetricSample]] {
    let (families, unknown) = StatisticMapping().families(of: [StatisticValue(name, value)])
    #expect(unknown.isEmpty)
    return Dictionary(uniqueKeysWithValues: families.map { ($0.name, $0.samples) })
  }

  @Test("Parts of a name in capitals become labels")
  func placeholders() {
    #expect(
      samples("submissions.refused.BAD_SIGNATURE") == [
        "entitle_submission_refusals": [MetricSample([MetricLabel("verdict", "BAD_SIGNATURE")], 5)]
      ])
    #expect(
      samples("verification.queued.bulk") == [
        "entitle_verification_queued": [MetricSample([MetricLabel("priority", "bulk")], 5)]
      ])
    #expect(
      samples("access.refused.rate_limited") == [
        "entitle_access_refusals": [MetricSample([MetricLabel("reason", "rate_limited")], 5)]
      ])
  }

  @Test(
    "A caller's name may have dots", arguments: ["billing", "a.b.c", "x..y", "ops@example.com"])
  func callers(name: String) {
    #expect(
      samples("access.refused.rate_limited.\(name)") == [
        "entitle_caller_refusals": [
          MetricSample([MetricLabel("reason", "rate_limited"), MetricLabel("caller", name)], 5)
        ]
      ])
    #expect(
      samples("access.expires_seconds.\(name)") == [
        "entitle_credential_expiry_timestamp_seconds": [
          MetricSample([MetricLabel("caller", name)], 5)
        ]
      ])
  }

  @Test("A name may imply a label, and times are in seconds")
  func labelsAndUnits() {
    #expect(
      samples("access.reload_failures") == [
        "entitle_credentials_reloads": [MetricSample([MetricLabel("outcome", "failed")], 5)]
      ])
    #expect(
      samples("follower.lag_microseconds", 2_500_000) == [
        "entitle_follower_lag_seconds": [MetricSample([], 2.5)]
      ])
  }

  @Test("Jobs and calls of the App Store Server API are shown by kind and outcome")
  func recovery() {
    #expect(
      samples("jobs.attempts.reconciliation.given_up") == [
        "entitle_jobs_attempts": [
          MetricSample(
            [MetricLabel("kind", "reconciliation"), MetricLabel("outcome", "given_up")], 5)
        ]
      ])
    #expect(
      samples("app_store_api.calls.rate_limited") == [
        "entitle_app_store_api_calls": [MetricSample([MetricLabel("outcome", "rate_limited")], 5)]
      ])
    // The number of calls in progress is no outcome.
    #expect(
      samples("app_store_api.calls_in_progress") == [
        "entitle_app_store_api_calls_in_progress": [MetricSample([], 5)]
      ])
    #expect(
      samples("jobs.earliest_due_seconds", 1_772_366_400) == [
        "entitle_jobs_earliest_due_timestamp_seconds": [MetricSample([], 1_772_366_400)]
      ])
  }

  @Test("Offers are shown by what was signed, and by why not")
  func offers() {
    #expect(
      samples("offers.signed.promotional_v1") == [
        "entitle_offers_signed": [MetricSample([MetricLabel("kind", "promotional_v1")], 5)]
      ])
    #expect(
      samples("offers.refused.USED_UP") == [
        "entitle_offer_refusals": [MetricSample([MetricLabel("reason", "USED_UP")], 5)]
      ])
    #expect(
      samples("offers.throttled") == ["entitle_offers_throttled": [MetricSample([], 5)]])
  }

  @Test("A sum of other values is not shown")
  func sums() {
    for name in ["verification.queued", "calls.total", "calls.NOT_FOUND"] {
      #expect(samples(name).isEmpty, "\(name)")
    }
  }

  @Test(
    "A value without a metric is reported",
    arguments: [
      "new.counter", "cache", "cache.hits.more", "verification.queued.bulk.more", "calls.new", "",
    ])
  func unknown(name: String) {
    let found = StatisticMapping().families(of: [
      StatisticValue(name, 1), StatisticValue("cache.hits", 2),
    ])
    #expect(found.unknown == [name])
    #expect(found.families.map(\.name) == ["entitle_cache_hits"])
  }
}
