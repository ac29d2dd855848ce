/// How a process ended.
enum ProgramExit: Hashable, Sendable {
  case code(Int32)
  case signal(Int32)
}
