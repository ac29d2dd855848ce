import CPostgres

/// The fields of an error or a notice (`PG_DIAG_…` of `postgres_ext.h`).
enum ResultFields {
  enum Field: Character {
    /// Never translated, unlike `S`.
    case severity = "V"
    case state = "C"
    case message = "M"
    case position = "P"
    case schema = "s"
    case table = "t"
    case column = "c"
    case constraint = "n"
    case routine = "R"
  }

  static func text(_ result: OpaquePointer, _ field: Field) -> String? {
    // All are ASCII.
    let code = CInt(field.rawValue.asciiValue ?? 0)
    return PQresultErrorField(result, code).map { String(cString: $0) }
  }
}
