// Errors of calls that no answer ended.

extension AppStoreServerError {
  static let cancelled = AppStoreServerError(.cancelled, "the task was cancelled")
  static let shutDown = AppStoreServerError(.shutDown, "the client is shut down")
  static let deadlineExceeded = AppStoreServerError(
    .deadlineExceeded, "the deadline has passed", isRetryable: true)

  /// The error of a request without an answer.
  init(
    _ fault: TransportFault, _ endpoint: AppStoreServerEndpoint, _ limits: AppStoreServerLimits
  ) {
    switch fault {
    case .deadline: self = .deadlineExceeded
    case .cancelled: self = .cancelled
    case .shutDown: self = .shutDown
    case .tooLong:
      self.init(.responseTooLong, "the answer has more than \(limits.responseLength) bytes")
    case .busy: self.init(.busy, "no connection was free in time", isRetryable: true)
    case .unsent(let reason): self.init(.unreachable, reason, isRetryable: true)
    case .interrupted(let reason): self.init(.unreachable, reason, isRetryable: true)
    }
    switch fault {
    case .busy, .unsent: break
    case .deadline, .cancelled, .tooLong, .shutDown, .interrupted:
      mayHaveTakenEffect = endpoint.isChange
    }
  }
}
