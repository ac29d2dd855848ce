import MetricsExposition

/// All metrics, and what each shows of GetStatistics. A value of GetStatistics without a metric here
/// fails a test, and so does a difference from the table in deploy/docs/operations.md.
///
/// Names follow Prometheus: base units, `_total` for counters (added when they are written), no name
/// of a label in a name. A bounded thing has its use, what it refused, and its bound in `_limit`.
package enum MetricTable {
  package static let all =
    calls + [buildInfo] + access + files + connections + http + submissions + notifications
    + verification + certificateStatus + recovery + reads + watches + following + audit + traces
    + store + process + [libraries]

  // MARK: Calls

  static let callDuration = MetricDefinition.direct(
    "rpc_server_call_duration_seconds", .histogram,
    "Time from the arrival of a request to its answer, of finished calls by method. Of a stream: its whole "
      + "time. A call that was refused before it began took none.",
    labels: ["rpc_system_name", "rpc_method"])

  static let finishedCalls = MetricDefinition.direct(
    "rpc_server_calls", .counter,
    "Finished calls by method and status code. The method is _OTHER if the server does not have it or did "
      + "not read its name. Calls of a client that disconnected are CANCELLED.",
    labels: ["rpc_system_name", "rpc_method", "rpc_response_status_code"],
    sums: ["calls.total", "calls.CODE"])

  static let calls: [MetricDefinition] = [
    callDuration, finishedCalls,
    .counter(
      "entitle_rpc_stream_messages", "Messages sent on streams.", "calls.stream_messages"),
  ]

  static let buildInfo = MetricDefinition.direct(
    "entitle_build_info", .gauge, "Always 1; its labels say which program runs.",
    labels: ["version", "store"])

  static let libraries = MetricDefinition.direct(
    LibraryMetrics.refusedName, .counter, LibraryMetrics.refusedHelp)

  // MARK: Access

  static let access: [MetricDefinition] = [
    .gauge(
      "entitle_serving", "1 while the health service answers SERVING, else 0.", "health.serving"),
    .gauge("entitle_access_callers", "Callers of the credentials in force.", "access.callers"),
    .counter(
      "entitle_access_refusals",
      "Refused calls by reason, such as rate_limited: those of known callers and of others.",
      "access.refused.REASON"),
    .counter(
      "entitle_caller_refusals", "Refused calls of each known caller by reason.",
      "access.refused.REASON.CALLER"),
    .gauge(
      "entitle_credential_expiry_timestamp_seconds",
      "When the last token of a caller expires, in seconds since the epoch. Absent for a caller without "
        + "tokens, or with one that never expires.", "access.expires_seconds.CALLER"),
  ]

  // MARK: Files

  static let files: [MetricDefinition] = [
    .counter(
      "entitle_catalog_reloads",
      "Reloads of the catalog: valid for a usable file, changed or not, failed for another.",
      "catalog.reloads.OUTCOME"),
    .gauge(
      "entitle_catalog_last_reload_success",
      "1 if the last reload of the catalog found a usable file, else 0.",
      "catalog.last_reload_valid"),
    .gauge(
      "entitle_catalog_last_reload_timestamp_seconds",
      "When the catalog was last read, in seconds since the epoch.", "catalog.last_reload_seconds"),
    .gauge(
      "entitle_catalog_in_force_timestamp_seconds",
      "Since when the catalog is in force, in seconds since the epoch.",
      "catalog.in_force_since_seconds"),
    .counter(
      "entitle_credentials_reloads",
      "Reloads of the credentials: valid for a usable file, changed or not, failed for another.",
      .labelled("access.reloads", "outcome", "valid"),
      .labelled("access.reload_failures", "outcome", "failed")),
    .gauge(
      "entitle_credentials_last_reload_success",
      "1 if the last reload of the credentials found a usable file, else 0.",
      "access.last_reload_valid"),
    .gauge(
      "entitle_credentials_last_reload_timestamp_seconds",
      "When the credentials were last read, in seconds since the epoch.",
      "access.last_reload_seconds"),
    .gauge(
      "entitle_credentials_in_force_timestamp_seconds",
      "Since when the credentials are in force, in seconds since the epoch.",
      "access.in_force_since_seconds"),
    .gauge(
      "entitle_tls_certificate_expiry_timestamp_seconds",
      "When the certificate of the server expires, in seconds since the epoch.",
      "tls.certificate_expires_seconds"),
    .gauge(
      "entitle_tls_certificate_remaining_seconds",
      "Seconds until the certificate of the server expires; 0 then.",
      "tls.certificate_seconds_left"),
    .counter(
      "entitle_tls_reload_failures", "How often the files of TLS could not be used.",
      "tls.reload_failures"),
    .gauge(
      "entitle_tls_last_reload_success", "1 if the files of TLS on disk are in force, else 0.",
      "tls.last_reload_valid"),
  ]

  // MARK: Process

  static let process: [MetricDefinition] = [
    .direct(
      "process_cpu_seconds", .counter, "Processor time of the process, user and system, in seconds."
    ),
    .direct("process_resident_memory_bytes", .gauge, "Memory of the process in RAM, in bytes."),
    .direct("process_virtual_memory_bytes", .gauge, "Address space of the process, in bytes."),
    .direct("process_open_fds", .gauge, "Open file descriptors of the process."),
    .direct("process_max_fds", .gauge, "File descriptors that the process may open."),
    .direct("process_threads", .gauge, "Threads of the process."),
    .direct(
      "process_start_time_seconds", .gauge, "When the process began, in seconds since the epoch."),
  ]
}
