/// The streams in flight on one connection.
///
/// The newest stream is stored outside the dictionary. Most calls are answered while their frame is
/// handled, and so never enter the dictionary.
struct StreamTable<Stream> {
  private var newest: (id: StreamID, stream: Stream)?
  private var others: [StreamID: Stream] = [:]

  var count: Int {
    others.count + (newest == nil ? 0 : 1)
  }

  var isEmpty: Bool {
    newest == nil && others.isEmpty
  }

  subscript(id: StreamID) -> Stream? {
    if let newest, newest.id == id {
      return newest.stream
    }
    return others.isEmpty ? nil : others[id]
  }

  /// Adds a stream. `id` must not be in use.
  mutating func insert(_ stream: Stream, id: StreamID) {
    if let newest {
      others[newest.id] = newest.stream
    }
    newest = (id, stream)
  }

  mutating func remove(_ id: StreamID) {
    if let newest, newest.id == id {
      self.newest = nil
    } else {
      others[id] = nil
    }
  }

  /// All streams, ordered by id, so that bulk operations are deterministic.
  var all: [(id: StreamID, stream: Stream)] {
    var all = others.map { (id: $0.key, stream: $0.value) }
    if let newest {
      all.append(newest)
    }
    return all.sorted { $0.id.rawValue < $1.id.rawValue }
  }

  mutating func removeAll() {
    newest = nil
    others = [:]
  }
}
