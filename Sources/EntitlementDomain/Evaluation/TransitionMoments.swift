/// The moments at which an answer may change (R30).
struct TransitionMoments {
  private let now: Milliseconds
  private var upcoming: [Milliseconds] = []
  /// The latest of those that are not later than now.
  private(set) var latestPast: Milliseconds?

  init(around now: Milliseconds) {
    self.now = now
  }

  mutating func note(_ moment: Milliseconds) {
    if moment > now {
      upcoming.append(moment)
    } else if latestPast.map({ $0 < moment }) ?? true {
      latestPast = moment
    }
  }

  /// The later ones, each once, earliest first.
  func later() -> [Milliseconds] {
    var later: [Milliseconds] = []
    for moment in upcoming.sorted() where moment != later.last { later.append(moment) }
    return later
  }
}
