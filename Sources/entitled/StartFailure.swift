/// Why `entitled` did not start; each reason has an exit code of its own (after `sysexits.h` where
/// it has one). See ``StopLimit`` for one that does not stop well.
struct StartFailure: Error, CustomStringConvertible {
  enum Reason: Int32, CaseIterable {
    case failed = 1
    case badCatalog = 65
    case addressUnavailable = 69
    case cannotOpenStore = 73
    case olderSchema = 74
    case storeLocked = 75
    case newerSchema = 76
    case addressNotPermitted = 77
    case badConfiguration = 78
  }

  let reason: Reason
  let description: String

  init(_ reason: Reason, _ description: String) {
    self.reason = reason
    self.description = description
  }
}
