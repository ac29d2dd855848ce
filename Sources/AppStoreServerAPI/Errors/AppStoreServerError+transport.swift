import OutboundHTTP

// Errors of calls that no answer ended, or one that is too long.

extension AppStoreServerError {
  static let cancelled = AppStoreServerError(.cancelled, "the task was cancelled")
  static let shutDown = AppStoreServerError(.shutDown, "the client is shut down")
  static let deadlineExceeded = AppStoreServerError(
    .deadlineExceeded, "the deadline has passed", isRetryable: true)

  /// The error of an answer that has more bytes than a limit.
  init(answerBeyond length: Int, _ endpoint: AppStoreServerEndpoint) {
    self.init(.responseTooLong, "the answer has more than \(length) bytes")
    mayHaveTakenEffect = endpoint.isChange
  }

  /// The error of a request without an answer.
  init(_ fault: OutboundFault, _ endpoint: AppStoreServerEndpoint) {
    switch fault {
    case .timeout: self = .deadlineExceeded
    case .cancelled: self = .cancelled
    case .shutDown: self = .shutDown
    case .busy: self.init(.busy, fault.description, isRetryable: true)
    case .unsent, .interrupted: self.init(.unreachable, fault.description, isRetryable: true)
    }
    switch fault {
    case .busy, .unsent: break
    case .timeout, .cancelled, .shutDown, .interrupted:
      mayHaveTakenEffect = endpoint.isChange
    }
  }
}
