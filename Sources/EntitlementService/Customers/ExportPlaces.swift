import Synchronization

/// Places for exports, so that there are only so many at once.
final class ExportPlaces: Sendable {
  private let limit: Int
  private let taken = Mutex(0)

  init(limit: Int) {
    self.limit = limit
  }

  /// - Throws: ``ServiceError/Code-swift.enum/tooManyExports`` when none is free.
  func take() throws(ServiceError) -> ExportPlace {
    let isFree = taken.withLock { taken in
      guard taken < limit else { return false }
      taken += 1
      return true
    }
    guard isFree else {
      throw ServiceError(.tooManyExports, "\(limit) exports are under way already")
    }
    return ExportPlace(self)
  }

  fileprivate func leave() {
    taken.withLock { $0 -= 1 }
  }
}

/// One of the places, until it is released.
final class ExportPlace: Sendable {
  private let places: ExportPlaces

  fileprivate init(_ places: ExportPlaces) {
    self.places = places
  }

  deinit {
    places.leave()
  }
}
