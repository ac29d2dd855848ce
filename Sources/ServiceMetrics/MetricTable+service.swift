/// What the use cases count.
extension MetricTable {
  static let submissions: [MetricDefinition] = [
    .counter(
      "entitle_submission_refusals",
      "Refused payloads, by verdict. A refused notification, receipt or archived response counts once, and "
        + "so does each unusable purchase in an accepted one.", "submissions.refused.VERDICT"),
    .counter(
      "entitle_submission_facts",
      "Accepted payloads, and the statements of accepted receipts and archived responses about the app and "
        + "each purchase: ADDED, REPLACED, DUPLICATE, SUPERSEDED.", "submissions.facts.DISPOSITION"),
    .counter(
      "entitle_submission_links",
      "The same payloads: UNLINKED, UNCHANGED, LINKED, TRANSFERRED; ALREADY_LINKED is a claim that the app's "
        + "policy refused, CLAIM_LIMITED a claim of an account that has reached its limit of claims in a "
        + "day, RECLAIMED a claim by an account that had lost the purchase to another claim, DISPUTED a claim "
        + "of a purchase that claims have moved as often as they may, ACCOUNT_FULL a purchase whose account has as many chains as it may have.",
      "submissions.links.OUTCOME"),
    .counter("entitle_receipts", "Verified receipts, new or known.", "receipts.accepted"),
    .counter(
      "entitle_archived_responses", "Imported archived responses, new or known.",
      "archives.accepted"),
    .counter(
      "entitle_facts_with_unknown_value",
      "New facts with an unknown value in Apple's field of that name; the value is stored, and confers "
        + "nothing.", "facts.unknown.FIELD"),
    .counter(
      "entitle_grant_changes", "Calls for grants that changed something.",
      .labelled("grants.added", "kind", "added"),
      .labelled("grants.withdrawn", "kind", "withdrawn")),
    .counter(
      "entitle_link_changes",
      "Explicit changes of an owner: linked, unlinked, transferred, merged, deleted, token_bound.",
      "links.KIND"),
    .counter(
      "entitle_offers_signed",
      "Signed offers: promotional_v1, promotional_v2, introductory_allowed, introductory_denied.",
      "offers.signed.KIND"),
    .counter(
      "entitle_offer_refusals",
      "Offers that were not signed because the customer may not have them, by the reason (R82–R84); OVERRIDE: "
        + "the catalog does not let callers override the verdict.", "offers.refused.REASON"),
    .counter(
      "entitle_offers_throttled",
      "Offers that were not signed because too many were signed for the customer or the app.",
      "offers.throttled"),
  ]

  static let notifications: [MetricDefinition] = [
    .counter(
      "entitle_notifications",
      "Notifications: accepted are new ones, duplicate those that were stored before.",
      .labelled("notifications.accepted", "outcome", "accepted"),
      .labelled("notifications.duplicate", "outcome", "duplicate")),
    .counter(
      "entitle_notifications_unknown",
      "New notifications with an unknown type, subtype, form (an unknown combination of a known type and a "
        + "known subtype) or status (`data.status`).",
      .labelled("notifications.unknown_type", "what", "type"),
      .labelled("notifications.unknown_subtype", "what", "subtype"),
      .labelled("notifications.unknown_form", "what", "form"),
      .labelled("notifications.unknown_status", "what", "status")),
    .counter(
      "entitle_notification_status_mismatches",
      "New notifications whose status differs from the computed one (R47).",
      "notifications.status_mismatch"),
  ]

  static let verification: [MetricDefinition] = [
    .gauge(
      "entitle_verification_queued",
      "Payloads that wait for a worker, including receipts and archived responses, by priority: interactive "
        + "or bulk.", "verification.queued.PRIORITY", .sum("verification.queued")),
    .gauge(
      "entitle_verification_queued_limit",
      "How many payloads may wait with this priority, or one submission.",
      "verification.queued_limit.PRIORITY"),
    .gauge(
      "entitle_verification_running", "Payloads in work.", "verification.running.PRIORITY",
      .sum("verification.running")),
    .gauge("entitle_verification_workers", "Workers of all priorities.", "verification.workers"),
    .gauge(
      "entitle_verification_queue_bytes", "Bytes of the payloads that wait or are in work.",
      "verification.bytes.PRIORITY", .sum("verification.bytes")),
    .gauge(
      "entitle_verification_queue_limit_bytes", "How many bytes may wait or be in work.",
      "verification.bytes_limit.PRIORITY"),
    .counter(
      "entitle_verification_done", "Payloads verified or read.", "verification.done.PRIORITY",
      .sum("verification.done")),
    .counter(
      "entitle_verification_given_up", "Payloads dropped because no caller waited.",
      "verification.given_up.PRIORITY", .sum("verification.given_up")),
    .counter(
      "entitle_verification_turned_away", "Payloads refused because the queue was full.",
      "verification.turned_away.PRIORITY", .sum("verification.turned_away")),
    .counter(
      "entitle_verification_pieces",
      "Units of work that a worker finished: some payloads of one submission.",
      "verification.pieces.PRIORITY"),
    .counter(
      "entitle_verification_waiting_seconds", "Total time that these units waited for a worker.",
      .microseconds("verification.waiting_microseconds.PRIORITY")),
    .counter(
      "entitle_verification_working_seconds", "Total time that workers spent on these units.",
      .microseconds("verification.working_microseconds.PRIORITY")),
    .counter(
      "entitle_verification_verdicts",
      "Payloads and receipts verified, by verdict, including OK.",
      "verification.verdicts.VERDICT"),
  ]

  static let certificateStatus: [MetricDefinition] = [
    .counter(
      "entitle_certificate_status_requests", "Requests sent to OCSP responders.",
      "certificate_status.asked"),
    .counter(
      "entitle_certificate_status_answers",
      "What became of them: good, revoked, unknown (the responder does not know the certificate), unusable "
        + "(out of date, wrong signer, not OCSP), unreachable (no answer).",
      .labelled("certificate_status.good", "outcome", "good"),
      .labelled("certificate_status.revoked", "outcome", "revoked"),
      .labelled("certificate_status.unknown", "outcome", "unknown"),
      .labelled("certificate_status.unusable", "outcome", "unusable"),
      .labelled("certificate_status.unreachable", "outcome", "unreachable")),
    .counter(
      "entitle_certificate_status_cache_hits", "Look-ups answered from the cache.",
      "certificate_status.hits"),
    .counter(
      "entitle_certificate_status_joined", "Look-ups that joined a request in flight.",
      "certificate_status.joined"),
    .counter(
      "entitle_certificate_status_without_responder", "Certificates that name no responder.",
      "certificate_status.without_responder"),
    .counter(
      "entitle_certificate_status_turned_away",
      "Requests not sent because too many were in flight.", "certificate_status.turned_away"),
    .counter(
      "entitle_certificate_status_undecided",
      "Payloads without a decision: accepted with soft, RETRYABLE with strict.",
      "certificate_status.undecided"),
    .gauge(
      "entitle_certificate_status_in_flight", "Requests in flight now.",
      "certificate_status.in_flight"),
    .gauge(
      "entitle_certificate_status_in_flight_limit",
      "How many requests may be in flight; 0 without checks.",
      "certificate_status.in_flight_limit"),
    .gauge(
      "entitle_certificate_status_cache_entries", "Certificates in the cache now.",
      "certificate_status.entries"),
    .gauge(
      "entitle_certificate_status_cache_entries_limit",
      "How many certificates the cache may have; 0 without checks.",
      "certificate_status.entries_limit"),
  ]

  /// The jobs of the App Store Server API, and its client. Only nodes with keys have these values.
  static let recovery: [MetricDefinition] = [
    .gauge(
      "entitle_jobs_open",
      "Jobs of the App Store Server API that are to be done, all in the database: every node shows the same "
        + "number, so use max and not sum. Counted every 10 s.", "jobs.open"),
    .gauge(
      "entitle_jobs_given_up",
      "Jobs that were given up and not opened again, all in the database: use max and not sum. Counted every "
        + "10 s.", "jobs.given_up"),
    .gauge(
      "entitle_jobs_counted_limit", "How many jobs of each of these two states are counted.",
      "jobs.counted_limit"),
    .gauge(
      "entitle_jobs_earliest_due_timestamp_seconds",
      "When the earliest open job of the apps that this node has keys for is due, in seconds since the epoch; "
        + "for a job in work, when its lease ends. Absent without an open job.",
      "jobs.earliest_due_seconds"),
    .gauge("entitle_jobs_running", "Attempts at jobs in work on this node.", "jobs.running"),
    .gauge(
      "entitle_jobs_running_limit", "How many attempts may be in work on this node.",
      "jobs.running_limit"),
    .counter(
      "entitle_jobs_attempts",
      "Attempts that ended, by kind (refetch, reconciliation, consumption) and outcome: done; paused, by a rate "
        + "limit, a shutdown or because other jobs go first; failed, to be repeated; given_up; lost, as the job was "
        + "cancelled, leased by another process, or the store failed.",
      "jobs.attempts.KIND.OUTCOME"),
    .counter(
      "entitle_jobs_payloads", "Signed payloads that the App Store returned to jobs.",
      "jobs.payloads"),
    .counter("entitle_jobs_added", "Those of them that were new.", "jobs.added"),
    .counter(
      "entitle_jobs_refused",
      "Those of them that were refused: they failed verification, or the catalog does not accept them.",
      "jobs.refused"),
    .gauge(
      "entitle_consumption_open",
      "Consumption requests of the App Store that are to be answered, of all apps that this node has a key "
        + "for: use max and not sum. Counted every 10 s.", "consumption.open"),
    .gauge(
      "entitle_consumption_counted_limit", "How many such requests are counted.",
      "consumption.counted_limit"),
    .gauge(
      "entitle_consumption_earliest_deadline_timestamp_seconds",
      "Until when the first of them can be answered, in seconds since the epoch. Absent without one.",
      "consumption.earliest_deadline_seconds"),
    .counter(
      "entitle_consumption_sent", "Consumption requests that this node answered.",
      "consumption.sent"),
    .counter(
      "entitle_consumption_not_sent",
      "Consumption requests that ended on this node without an answer, by cause: consent_missing, "
        + "deadline_passed and the others of ConsumptionCause, but those that arrived late and those whose job was "
        + "cancelled.", "consumption.not_sent.CAUSE"),
    .counter(
      "entitle_import_rows",
      "Attempts at rows of imports of accounts that ended, by outcome: done; failed, "
        + "for good; repeated later; lost, as the report could not be stored.",
      "imports.rows.OUTCOME"),
    .gauge(
      "entitle_import_rows_waiting",
      "Rows of imports of accounts that wait or are in work, all in the database: use "
        + "max and not sum. Counted every 10 s.",
      "imports.waiting"),
    .gauge(
      "entitle_import_rows_waiting_limit",
      "How many of them are counted.",
      "imports.waiting_limit"),
    .gauge(
      "entitle_import_rows_running",
      "Rows of imports of accounts in work on this node.",
      "imports.running"),
    .gauge(
      "entitle_import_rows_running_limit",
      "How many of them may be in work on this node.",
      "imports.running_limit"),
    .counter(
      "entitle_app_store_api_calls",
      "Calls of the App Store Server API that ended, by outcome: ok; refused for an error of Apple's; "
        + "unauthorized for 401, also with a fresh token; rate_limited for 429 or the node's own rates; "
        + "unreachable; or another code of the client.", "app_store_api.calls.OUTCOME"),
    .counter(
      "entitle_app_store_api_requests",
      "Requests of these calls that were sent, or for which no connection could be opened.",
      "app_store_api.requests"),
    .counter(
      "entitle_app_store_api_retries", "Those of them after the first of a call.",
      "app_store_api.retries"),
    .counter(
      "entitle_app_store_api_permit_waits",
      "How often a call waited for a permit, because of the rates or a 429.",
      "app_store_api.permit_waits"),
    .counter(
      "entitle_app_store_api_tokens_signed", "Tokens signed; other requests had a cached one.",
      "app_store_api.tokens_signed"),
    .counter(
      "entitle_app_store_api_key_file_failures",
      "How often the file of a key was replaced by one that cannot be used; the former key stays in force.",
      "app_store_api.key_file_failures"),
    .gauge(
      "entitle_app_store_api_calls_in_progress", "Calls of the App Store Server API now.",
      "app_store_api.calls_in_progress"),
    .gauge(
      "entitle_app_store_api_calls_in_progress_limit", "How many such calls there may be.",
      "app_store_api.calls_in_progress_limit"),
    .gauge(
      "entitle_app_store_api_waiting_calls",
      "Those of them that wait for a permit or for their next attempt.",
      "app_store_api.waiting_calls"),
    .gauge(
      "entitle_app_store_api_waiting_calls_limit", "How many calls may wait.",
      "app_store_api.waiting_calls_limit"),
    .gauge(
      "entitle_app_store_operations_in_progress",
      "Calls of AppStoreService that ask the App Store now.", "app_store_operations.in_progress"),
    .gauge(
      "entitle_app_store_operations_in_progress_limit", "How many such calls there may be.",
      "app_store_operations.in_progress_limit"),
    .counter(
      "entitle_app_store_fetches",
      "Customers that reads with fetch_if_unknown asked the App Store for, by outcome: fetched; absent, as the "
        + "App Store does not know the id; failed; and reads that were shed, as too many were in flight.",
      "fetches.outcomes.OUTCOME"),
    .counter(
      "entitle_app_store_fetch_negative_hits",
      "Such reads that were answered at once with what a fetch found less than a minute before: the App Store does "
        + "not know the id, or as one of another kind, or a job fetches the rest.",
      "fetches.negative_hits"),
    .gauge(
      "entitle_app_store_fetches_in_flight", "Customers that are being fetched now.",
      "fetches.in_flight"),
    .gauge(
      "entitle_app_store_fetches_in_flight_limit", "How many customers may be fetched at a time.",
      "fetches.in_flight_limit"),
    .gauge(
      "entitle_app_store_fetch_waiting", "Reads that wait for a fetch now.", "fetches.waiting"),
    .gauge(
      "entitle_app_store_fetch_waiting_limit", "How many reads may wait for fetches.",
      "fetches.waiting_limit"),
  ]

  static let reads: [MetricDefinition] = [
    .counter("entitle_cache_hits", "Reads answered from the cache.", "cache.hits"),
    .counter("entitle_cache_misses", "Other reads.", "cache.misses"),
    .counter(
      "entitle_cache_joined_loads", "Reads that joined a load in flight.", "cache.joined_loads"),
    .counter(
      "entitle_cache_evictions", "Cached answers evicted to make room.", "cache.evictions"),
    .gauge("entitle_cache_entries", "Cached answers now.", "cache.entries"),
    .gauge("entitle_cache_size_bytes", "Their bytes.", "cache.bytes"),
    .gauge(
      "entitle_cache_size_limit_bytes", "How many bytes cached answers may have.",
      "cache.bytes_limit"),
    .gauge("entitle_reads_waiting", "Reads that wait for a permit now.", "reads.waiting"),
    .gauge(
      "entitle_reads_waiting_limit", "How many reads may wait for a permit.",
      "reads.waiting_limit"),
    .gauge(
      "entitle_read_permits_in_use", "Batches of reads in flight now.", "reads.permits_in_use"),
    .gauge(
      "entitle_read_permits_limit", "How many batches of reads may be in flight.",
      "reads.permits"),
    .counter("entitle_read_batches", "Batches of reads sent to the store.", "reads.batches"),
    .counter("entitle_reads_shed", "Reads shed in overload.", "reads.shed"),
    .gauge(
      "entitle_evaluations_queued",
      "Computations for large customers (more than 512 facts) that wait now.",
      "evaluations.queued"),
    .gauge(
      "entitle_evaluations_queued_limit", "How many such computations may wait.",
      "evaluations.queued_limit"),
    .gauge("entitle_evaluations_running", "Such computations in work.", "evaluations.running"),
    .gauge("entitle_evaluation_workers", "Threads for them.", "evaluations.workers"),
    .gauge(
      "entitle_evaluation_facts", "Facts of the computations that wait or are in work.",
      "evaluations.facts"),
    .gauge(
      "entitle_evaluation_facts_limit", "How many facts these may have.",
      "evaluations.facts_limit"),
    .counter("entitle_evaluations_done", "Such computations done.", "evaluations.done"),
    .counter(
      "entitle_evaluations_given_up", "Such computations dropped because no caller waited.",
      "evaluations.given_up"),
    .counter(
      "entitle_evaluations_shed", "Such computations refused because the queue was full.",
      "evaluations.shed"),
    .counter(
      "entitle_evaluation_waiting_seconds", "Total time that they waited for a thread.",
      .microseconds("evaluations.waiting_microseconds")),
    .counter(
      "entitle_evaluation_working_seconds", "Total time that threads spent on them.",
      .microseconds("evaluations.working_microseconds")),
  ]

  static let watches: [MetricDefinition] = [
    .gauge("entitle_watches_open", "Watches now.", "watches.open"),
    .gauge("entitle_watches_open_limit", "How many watches there may be.", "watches.open_limit"),
    .counter("entitle_watches_started", "Watches that began.", "watches.started"),
    .counter("entitle_watches_refused", "Watches refused because of the limit.", "watches.refused"),
    .counter("entitle_watch_items", "Changes sent to watches.", "watches.items"),
    .counter(
      "entitle_watch_reads", "Reads of the feed for all watches together.", "watches.reads"),
  ]

  static let following: [MetricDefinition] = [
    .counter(
      "entitle_follower_polls", "Polls for the writes of all nodes, failed ones included.",
      "follower.looks"),
    .counter("entitle_follower_failed_polls", "Failed polls.", "follower.failed_looks"),
    .counter(
      "entitle_follower_changed_customers", "Changed customers that polls returned.",
      "follower.changed"),
    .counter(
      "entitle_follower_recovered_polls",
      "Polls without an announcement that found changes: the announcement was lost.",
      "follower.recovered"),
    .counter(
      "entitle_follower_cache_clears",
      "How often all cached answers were dropped: the feed no longer contained the follower's position, the "
        + "database has another history, or more than 100,000 customers had changed since the last poll.",
      "follower.cleared"),
    .counter(
      "entitle_follower_stale_bypasses",
      "Reads that went to the store because the last poll was too old.",
      "follower.stale_bypasses"),
    .gauge(
      "entitle_follower_position", "The position of the node in the feed.", "follower.position"),
    .gauge(
      "entitle_follower_lag_seconds", "The time since the last successful poll began.",
      .microseconds("follower.lag_microseconds")),
    .counter(
      "entitle_changes_trimmed", "Entries of the feed that were deleted because of their age.",
      "changes.trimmed"),
  ]

  static let audit: [MetricDefinition] = [
    .counter(
      "entitle_audit_entries", "Entries of the audit trail that this process wrote.",
      "audit.entries"),
    .counter(
      "entitle_audit_gaps", "Those of them that tell of entries lost in a failover.", "audit.gaps"),
    .counter("entitle_audit_seals", "Seals that this process wrote.", "audit.seals"),
    .counter(
      "entitle_audit_log_failures", "Lines of audit_log that could not be written.",
      "audit.log_failures"),
  ]
  static let traces: [MetricDefinition] = [
    .counter("entitle_traces_exported", "Spans that the collector took.", "traces.exported"),
    .counter(
      "entitle_traces_dropped",
      "Spans that never reached the collector: it did not take them, the buffer was full, or the call had "
        + "too many.", "traces.dropped"),
    .counter(
      "entitle_traces_export_failures", "Batches of spans that the collector did not take.",
      "traces.export_failures"),
    .gauge(
      "entitle_traces_buffered", "Finished spans that wait for their export.", "traces.buffered"),
    .gauge(
      "entitle_traces_buffered_limit", "How many may wait; 0 without a collector.",
      "traces.buffered_limit"),
  ]
}
