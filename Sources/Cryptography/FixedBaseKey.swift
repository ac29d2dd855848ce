import COpenSSL

/// A P-256 public key with a table of its multiples, with which a signature check costs two
/// multiplications of fixed points (FIPS 186-5 section 6.4.2, SEC 1 section 4.1.4). OpenSSL has the
/// table of the curve's own generator; for the other it is given a group whose generator is the key.
/// All arithmetic is OpenSSL's, except for an inverse that OpenSSL checks. A table has some 150 kB. Safe on
/// any thread.
///
/// The verdict is the one of ``VerifyingKey``. Nothing here is secret, so nothing needs to take
/// constant time.
// @unchecked: the groups and numbers are not modified after init. Each check uses a context of its own.
final class FixedBaseKey: @unchecked Sendable {
  private let curve: OpaquePointer
  /// The curve with the key in place of its generator.
  private let multiples: OpaquePointer
  /// The order of the curve, of its field, and of the field less the order.
  private let order: OpaquePointer
  private let field: OpaquePointer
  private let fieldBeyondOrder: OpaquePointer
  private let inverse = ModularInverse(modulus: FixedBaseKey.orderWords)
  private let contexts = ContextPool<FixedBaseContext>()

  /// The order of P-256 (SP 800-186 section 3.2.1.3), the lowest word first.
  private static let orderWords: InlineArray<4, UInt64> = [
    0xF3B9_CAC2_FC63_2551, 0xBCE6_FAAD_A717_9E84, 0xFFFF_FFFF_FFFF_FFFF, 0xFFFF_FFFF_0000_0000,
  ]

  /// Computes the table, which takes some 20 ms.
  ///
  /// - Parameter key: a key of P-256.
  /// - Returns: nil when this build of OpenSSL has no tables, or the table is not right.
  init?(_ key: OpaquePointer) {
    guard let context = BN_CTX_new() else { return nil }
    defer {
      BN_CTX_free(context)
      ERR_clear_error()
    }
    guard let curve = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1) else { return nil }
    guard let multiples = EC_GROUP_dup(curve) else {
      EC_GROUP_free(curve)
      return nil
    }
    let numbers = [BN_new(), BN_new(), BN_new()].compactMap(\.self)
    guard numbers.count == 3 else {
      numbers.forEach { BN_free($0) }
      EC_GROUP_free(multiples)
      EC_GROUP_free(curve)
      return nil
    }
    self.curve = curve
    self.multiples = multiples
    (order, field, fieldBeyondOrder) = (numbers[0], numbers[1], numbers[2])
    // From here on, deinit frees what there is, also when this returns nil.
    guard let point = Self.point(of: key, on: curve, context) else { return nil }
    defer { EC_POINT_free(point) }
    guard EC_GROUP_get_order(curve, order, context) == 1,
      EC_GROUP_get_curve(curve, field, nil, nil, context) == 1,
      BN_sub(fieldBeyondOrder, field, order) == 1,
      EC_GROUP_set_generator(multiples, point, order, BN_value_one()) == 1,
      entitle_ec_group_precompute(multiples, context) == 1,
      isRight(for: point, context)
    else { return nil }
  }

  deinit {
    for number in [order, field, fieldBeyondOrder] { BN_free(number) }
    EC_GROUP_free(multiples)
    EC_GROUP_free(curve)
  }

  /// Whether r‖s is a valid signature of a message with this digest.
  ///
  /// - Parameter signature: 64 bytes.
  /// - Throws: ``CryptographyError/Code/libraryFault`` when OpenSSL cannot complete the check.
  func isValidSignature(
    _ signature: [UInt8], ofDigest digest: SHA256Digest
  ) throws(CryptographyError) -> Bool {
    let context: FixedBaseContext
    if let idle = contexts.borrow() {
      context = idle
    } else if let new = FixedBaseContext(curve, multiples) {
      context = new
    } else {
      throw CryptographyError(.libraryFault, "no context for a signature check")
    }
    guard let isValid = check(signature, digest, context) else {
      ERR_clear_error()
      throw CryptographyError(.libraryFault, "a signature check failed to run")
    }
    contexts.giveBack(context)
    return isValid
  }

  /// - Returns: nil on a failure of OpenSSL.
  private func check(
    _ signature: [UInt8], _ digest: SHA256Digest, _ c: FixedBaseContext
  ) -> Bool? {
    let words = (
      digest.words.0.bigEndian, digest.words.1.bigEndian, digest.words.2.bigEndian,
      digest.words.3.bigEndian
    )
    let isRead = signature.withUnsafeBufferPointer { bytes in
      withUnsafeBytes(of: words) { hash in
        BN_bin2bn(bytes.baseAddress, 32, c.r) != nil
          && BN_bin2bn(bytes.baseAddress.map { $0 + 32 }, 32, c.s) != nil
          && BN_bin2bn(hash.baseAddress?.assumingMemoryBound(to: UInt8.self), 32, c.e) != nil
      }
    }
    guard isRead else { return nil }
    guard BN_is_zero(c.r) == 0, BN_is_zero(c.s) == 0, BN_ucmp(c.r, order) < 0,
      BN_ucmp(c.s, order) < 0
    else { return false }

    // w = 1/s, R = (e w) G + (r w) Q. The digest is as long as the order: none of its bits are cut.
    guard invert(signature, c),
      BN_mod_mul(c.e, c.e, c.w, order, c.numbers) == 1,
      BN_mod_mul(c.w, c.r, c.w, order, c.numbers) == 1,
      EC_POINT_mul(curve, c.sum, c.e, nil, nil, c.numbers) == 1,
      EC_POINT_mul(multiples, c.multiple, c.w, nil, nil, c.numbers) == 1,
      EC_POINT_add(curve, c.sum, c.sum, c.multiple, c.numbers) == 1
    else { return nil }
    if EC_POINT_is_at_infinity(curve, c.sum) == 1 { return false }

    // R's x is r modulo the order. It is below the field, so it is r, or r and the order. Without a
    // division: x = r z².
    guard entitle_ec_point_jacobian(curve, c.sum, c.e, c.w, c.numbers) == 1,
      BN_mod_sqr(c.w, c.w, field, c.numbers) == 1,
      BN_mod_mul(c.s, c.r, c.w, field, c.numbers) == 1
    else { return nil }
    if BN_ucmp(c.s, c.e) == 0 { return true }
    guard BN_ucmp(c.r, fieldBeyondOrder) < 0 else { return false }
    guard BN_add(c.r, c.r, order) == 1, BN_mod_mul(c.s, c.r, c.w, field, c.numbers) == 1
    else { return nil }
    return BN_ucmp(c.s, c.e) == 0
  }

  /// w = 1/s, modulo the order. BN_mod_inverse takes as long as both multiplications of points, so s is
  /// inverted without it; OpenSSL checks that the product is one.
  ///
  /// - Returns: false on a failure of OpenSSL.
  private func invert(_ signature: [UInt8], _ c: FixedBaseContext) -> Bool {
    let s = signature.withUnsafeBytes { bytes in
      InlineArray<4, UInt64> { index in
        UInt64(
          bigEndian: bytes.loadUnaligned(fromByteOffset: 56 - 8 * index, as: UInt64.self))
      }
    }
    if let inverse = inverse.inverse(of: s) {
      let words = InlineArray<5, UInt64> { inverse[$0].littleEndian }
      let isRead = withUnsafeBytes(of: words) { bytes in
        BN_lebin2bn(
          bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(bytes.count), c.w) != nil
      }
      guard isRead, BN_mod_mul(c.product, c.s, c.w, order, c.numbers) == 1 else { return false }
      if BN_is_one(c.product) == 1 { return true }
    }
    return BN_mod_inverse(c.w, c.s, order, c.numbers) != nil
  }

  // MARK: The table

  private static func point(
    of key: OpaquePointer, on curve: OpaquePointer, _ context: OpaquePointer
  ) -> OpaquePointer? {
    // Uncompressed: a byte for the form, and two coordinates.
    var encoded = [UInt8](repeating: 0, count: 65)
    var length = 0
    guard
      EVP_PKEY_get_octet_string_param(
        key, OSSL_PKEY_PARAM_PUB_KEY, &encoded, encoded.count, &length) == 1,
      let point = EC_POINT_new(curve)
    else { return nil }
    guard EC_POINT_oct2point(curve, point, encoded, length, context) == 1 else {
      EC_POINT_free(point)
      return nil
    }
    return point
  }

  /// Multiples that are compared with those of the ordinary multiplication. A table that is not
  /// right is wrong in nearly all of them.
  private static let comparisons = 8

  /// Whether the table gives what the ordinary multiplication does: the calls are little used.
  private func isRight(for point: OpaquePointer, _ context: OpaquePointer) -> Bool {
    guard let c = FixedBaseContext(curve, multiples) else { return false }
    return (0..<Self.comparisons).allSatisfy { _ in
      BN_rand_range(c.e, order) == 1
        && EC_POINT_mul(multiples, c.multiple, c.e, nil, nil, context) == 1
        && EC_POINT_mul(curve, c.sum, nil, point, c.e, context) == 1
        && EC_POINT_cmp(curve, c.sum, c.multiple, context) == 0
    }
  }
}

/// The numbers and points of a check.
// @unchecked: a context has one user at a time. It is either in a pool or with its borrower.
private final class FixedBaseContext: @unchecked Sendable {
  let numbers: OpaquePointer
  let r: OpaquePointer
  let s: OpaquePointer
  let e: OpaquePointer
  let w: OpaquePointer
  let product: OpaquePointer
  /// A point of the curve.
  let sum: OpaquePointer
  /// A point of the group with the table.
  let multiple: OpaquePointer

  /// - Returns: nil without memory.
  init?(_ curve: OpaquePointer, _ multiples: OpaquePointer) {
    let made = (0..<5).compactMap { _ in BN_new() }
    let points = [EC_POINT_new(curve), EC_POINT_new(multiples)].compactMap(\.self)
    guard let numbers = BN_CTX_new(), made.count == 5, points.count == 2 else {
      made.forEach { BN_free($0) }
      points.forEach { EC_POINT_free($0) }
      return nil
    }
    self.numbers = numbers
    (r, s, e, w, product) = (made[0], made[1], made[2], made[3], made[4])
    (sum, multiple) = (points[0], points[1])
  }

  deinit {
    for number in [r, s, e, w, product] { BN_free(number) }
    for point in [sum, multiple] { EC_POINT_free(point) }
    BN_CTX_free(numbers)
  }
}
