/// What a question over HTTP may take, each limit with its reason.
package struct HTTPStatusLimits: Hashable, Sendable {
  /// For one answer, from the look-up of the name to its last byte. Responders answer within a
  /// second; submissions wait for this once in a while, and shorter than callers usually do.
  package var answerTime: Duration
  /// Bytes of an answer, 64 KiB, more than is read of one. Real ones have one to three kilobytes.
  package var answerLength: Int
  /// Questions for a few certificates, once in hours, need no more.
  package var connectionsPerHost: Int
  /// How long an idle connection is kept: the next question to the same host comes at once or in
  /// hours.
  package var idleTime: Duration

  package init(
    answerTime: Duration = .seconds(5), answerLength: Int = 65_536, connectionsPerHost: Int = 4,
    idleTime: Duration = .seconds(5)
  ) {
    self.answerTime = answerTime
    self.answerLength = answerLength
    self.connectionsPerHost = connectionsPerHost
    self.idleTime = idleTime
  }
}
