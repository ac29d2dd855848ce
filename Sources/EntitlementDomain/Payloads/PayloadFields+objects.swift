extension PayloadFields {
  /// The objects of an array; nil when it is absent.
  ///
  /// - Throws: ``PayloadError/Code/wrongType``, also for an element.
  package func objects(_ name: StaticString) throws(PayloadError) -> [PayloadFields]? {
    guard contains(name), let index = document.value(of: name, inObjectAt: node) else {
      return nil
    }
    guard document.nodes[index].kind == .array else {
      throw PayloadError(.wrongType, field: name, "is not an array")
    }
    let end = Int(document.nodes[index].next)
    var objects: [PayloadFields] = []
    var element = index + 1
    while element < end {
      guard document.nodes[element].kind == .object else {
        throw PayloadError(.wrongType, field: name, "holds something else than objects")
      }
      objects.append(PayloadFields(document: document, node: element))
      element = Int(document.nodes[element].next)
    }
    return objects
  }
}
