/// What the front and the stores count.
extension MetricTable {
  /// Of the listeners of HTTP: `http` for callers, `webhook` for the App Store.
  static let http: [MetricDefinition] = [
    .counter(
      "entitle_http_responses",
      "Responses of the HTTP listeners by status. Those of streams count when they begin.",
      "http.responses.LISTENER.STATUS"),
    .gauge(
      "entitle_http_connections", "Connections of the HTTP listeners now.",
      "http.connections.LISTENER"),
    .gauge(
      "entitle_http_connections_limit", "How many connections an HTTP listener may have.",
      "http.connections_limit.LISTENER"),
    .counter(
      "entitle_http_connections_refused",
      "Connections of the HTTP listeners closed because of their limit: new ones, or those in no call.",
      "http.connections_refused.LISTENER"),
    .gauge(
      "entitle_http_body_bytes", "Bytes of unfinished bodies of requests.",
      "http.body_bytes.LISTENER"),
    .gauge(
      "entitle_http_body_limit_bytes",
      "How many bytes of unfinished bodies an HTTP listener may hold.",
      "http.body_bytes_limit.LISTENER"),
  ]

  static let connections: [MetricDefinition] = [
    .gauge("entitle_connections_open", "Connections now.", "connections.open"),
    .gauge(
      "entitle_connections_open_limit", "How many connections there may be.",
      "connections.open_limit"),
    .counter("entitle_connections_accepted", "Accepted connections.", "connections.accepted"),
    .counter(
      "entitle_connections_refused",
      "Connections closed immediately, because of the limit or a shutdown.", "connections.refused"),
    .counter(
      "entitle_connections_timed_out",
      "Connections closed because they were idle or a frame did not arrive in time.",
      "connections.timed_out"),
    .counter(
      "entitle_connections_broken", "Connections closed because their client broke the protocol.",
      "connections.broken"),
    .counter(
      "entitle_broken_frames", "Frames that broke the protocol.", "connections.broken_frames"),
    .counter(
      "entitle_accept_pauses",
      "How often an accept was delayed because of short-lived connections.",
      "connections.accept_pauses"),
    .counter(
      "entitle_accept_failures",
      "How often no connection could be accepted for lack of a file descriptor.",
      "connections.accept_failures"),
    .counter(
      "entitle_tls_handshakes",
      "TLS handshakes that were finished or failed; the log has the reasons.",
      .labelled("tls.handshakes", "outcome", "finished"),
      .labelled("tls.handshakes_failed", "outcome", "failed")),
    .gauge(
      "entitle_tls_handshakes_open", "TLS handshakes that are not finished.",
      "tls.handshakes_open"),
    .gauge(
      "entitle_tls_handshakes_open_limit", "How many handshakes may be unfinished.",
      "tls.handshakes_open_limit"),
    .gauge(
      "entitle_memory_budget_used_bytes", "Bytes of the memory budget in use now.", "memory.bytes"),
    .gauge(
      "entitle_memory_budget_limit_bytes", "The memory budget for calls in bytes.",
      "memory.bytes_limit"),
    .gauge(
      "entitle_memory_unknown_used_bytes",
      "Bytes of incomplete requests on connections that no known caller has used.",
      "memory.unknown_bytes"),
    .gauge(
      "entitle_memory_unknown_limit_bytes",
      "How many bytes they may hold: beyond it, those are closed that have waited for longest.",
      "memory.unknown_bytes_limit"),
    .counter(
      "entitle_memory_refusals",
      "Calls and answers refused because the connection had its share of the memory.",
      "memory.refused"),
    .counter(
      "entitle_memory_dropped_requests",
      "Incomplete requests given up, so that others get memory.", "memory.dropped_requests"),
    .counter(
      "entitle_memory_closed_connections",
      "Connections closed because of unread answers, or of an incomplete request without a known caller, "
        + "so that others get memory.",
      "connections.closed_for_memory"),
    .counter(
      "entitle_conversions", "Requests converted from JSON, also those that were invalid.",
      "conversions.done"),
    .gauge(
      "entitle_conversions_waiting", "Long requests that wait for their conversion.",
      "conversions.waiting"),
    .gauge(
      "entitle_conversions_waiting_limit", "How many of them may wait.",
      "conversions.waiting_limit"),
    .counter(
      "entitle_conversions_refused", "Long requests refused because too many waited.",
      "conversions.refused"),
  ]

  static let store: [MetricDefinition] = [
    .gauge(
      "entitle_store_pending_writes", "Writes that wait for a transaction or are in one.",
      "store.pending_writes"),
    .gauge(
      "entitle_store_pending_writes_limit", "How many writes may wait or be in a transaction.",
      "store.pending_writes_limit"),
    .gauge(
      "entitle_store_pending_reads", "SQLite: reads that wait or are in progress.",
      "store.pending_reads"),
    .gauge(
      "entitle_store_pending_reads_limit", "SQLite: how many reads may wait or be in progress.",
      "store.pending_reads_limit"),
    .gauge(
      "entitle_store_connections",
      "PostgreSQL: connections now, for reads, for writes, and for reads from standbys.",
      .labelled("store.reading_connections", "use", "read"),
      .labelled("store.writing_connections", "use", "write"),
      .labelled("store.replica_connections", "use", "replica")),
    .gauge(
      "entitle_store_connections_limit", "PostgreSQL: how many connections there may be.",
      .labelled("store.reading_connections_limit", "use", "read"),
      .labelled("store.writing_connections_limit", "use", "write")),
    .gauge(
      "entitle_store_writing_connections_in_use", "PostgreSQL: writing connections in use.",
      "store.writing_connections_in_use"),
    .gauge(
      "entitle_store_reads_in_flight", "PostgreSQL: reads in flight.", "store.reads_in_flight"),
    .gauge(
      "entitle_store_waiting_reads", "PostgreSQL: reads that wait for a connection.",
      "store.waiting_reads"),
    .gauge(
      "entitle_store_waiting_reads_limit",
      "PostgreSQL: how many reads may wait for a connection.", "store.waiting_reads_limit"),
    .counter("entitle_store_connects", "PostgreSQL: connections made.", "store.connects"),
    .counter(
      "entitle_store_failed_connects", "PostgreSQL: failed attempts to connect.",
      "store.failed_connects"),
    .counter(
      "entitle_store_lost_connections", "PostgreSQL: lost connections.",
      "store.lost_connections"),
    .counter(
      "entitle_store_exchanges",
      "PostgreSQL: exchanges that the primary answered; reads that share a statement count once.",
      "store.exchanges"),
    .counter(
      "entitle_store_timeouts",
      "PostgreSQL: calls that timed out after they were sent, or while they waited for a connection.",
      .labelled("store.timeouts", "phase", "sent"),
      .labelled("store.wait_timeouts", "phase", "waiting")),
    .counter(
      "entitle_store_write_transactions", "PostgreSQL: committed write transactions.",
      "store.batches"),
    .counter("entitle_store_writes", "PostgreSQL: the writes in them.", "store.commits"),
    .counter(
      "entitle_store_retries", "PostgreSQL: transactions that were retried.", "store.retries"),
    .counter(
      "entitle_store_resolved_commits",
      "PostgreSQL: commits whose connection was lost and whose outcome was resolved afterwards.",
      "store.resolved_commits"),
    .counter(
      "entitle_store_replica_reads", "PostgreSQL: reads answered by a standby.",
      "store.replica_reads"),
    .counter(
      "entitle_store_replica_fallbacks",
      "PostgreSQL: reads answered by the primary because no standby was new enough.",
      "store.passed_replicas"),
  ]
}
