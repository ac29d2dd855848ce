import Glibc

/// Texts as C takes a list of them: addresses, and a null at the end.
final class CStringArray {
  private let storage: UnsafeMutableBufferPointer<UnsafePointer<CChar>?>

  init(_ texts: [String]) {
    storage = .allocate(capacity: texts.count + 1)
    let copies = texts.map { UnsafePointer<CChar>(strdup($0)) }
    _ = storage.initialize(from: copies + [nil])
  }

  deinit {
    for text in storage { free(UnsafeMutablePointer(mutating: text)) }
    storage.deallocate()
  }

  /// Valid as long as this object.
  var pointer: UnsafePointer<UnsafePointer<CChar>?>? { UnsafePointer(storage.baseAddress) }
}
