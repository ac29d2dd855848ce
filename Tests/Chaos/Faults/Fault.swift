/// One fault. Times are in milliseconds.
enum Fault: Hashable, Sendable, CustomStringConvertible {
  /// `kill -9`; started again after a while.
  case killServer(Int, downFor: Int)
  /// `kill -9` of all its processes; it is started again after a while.
  case killDatabase(downFor: Int)
  /// The primary dies for good, after the standby has lagged for a while, and the standby takes
  /// over.
  case failOver(lag: Int)
  /// Connections to the database are cut during a write.
  case cutConnections([CutRule])
  /// No room on the primary's disk.
  case fillDisk(lasting: Int)
  /// SIGSTOP of all its processes.
  case freezeDatabase(lasting: Int)

  enum Kind: String, CaseIterable, Sendable {
    case killServer = "servers killed"
    case killDatabase = "databases killed"
    case failOver = "standbys promoted"
    case cutConnections = "times connections cut"
    case fillDisk = "disks filled"
    case freezeDatabase = "databases stopped"
  }

  var kind: Kind {
    switch self {
    case .killServer: .killServer
    case .killDatabase: .killDatabase
    case .failOver: .failOver
    case .cutConnections: .cutConnections
    case .fillDisk: .fillDisk
    case .freezeDatabase: .freezeDatabase
    }
  }

  var description: String {
    switch self {
    case .killServer(let index, let time):
      "kill -9 of server \(index + 1), started again after \(time) ms"
    case .killDatabase(let time): "kill -9 of the database, started again after \(time) ms"
    case .failOver(let lag):
      lag == 0
        ? "the primary dies, the standby is promoted"
        : "the standby stands still for \(lag) ms, the primary dies, the standby is promoted"
    case .cutConnections(let rules):
      "\(rules.count) connections to the database cut: "
        + rules.map(\.description).joined(separator: "; ")
    case .fillDisk(let time): "the primary's disk is full for \(time) ms"
    case .freezeDatabase(let time): "SIGSTOP of the database for \(time) ms"
    }
  }
}
