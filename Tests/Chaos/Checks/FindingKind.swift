/// A kind of fault of the service.
enum FindingKind: String, CaseIterable, Sendable {
  case factLost = "an answered fact is not there"
  case payloadRefused = "a genuine payload was refused"
  case linkLost = "an answered link is not in the history"
  case twoOwners = "a chain has two owners"
  case brokenHistory = "a link history does not hold together"
  case wrongState = "a state is not what the stored facts give"
  case staleAnswer = "an answer is older than asked for"
  case feedGap = "the feed left something out"
  case feedRepeat = "the feed told something twice, or out of order"
  case wrongRevision = "a revision is not that of the latest change"
  case unexpectedStatus = "a call failed as none should"
  case notHealthy = "the service did not recover"
  case notStopped = "a server did not stop in order"
}
