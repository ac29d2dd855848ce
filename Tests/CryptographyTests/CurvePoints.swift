import COpenSSL
import Testing

@testable import Cryptography

/// Arithmetic on P-256 by OpenSSL, to make keys and signatures with numbers of one's choice.
final class CurvePoints {
  struct Failed: Error {}

  let curve: OpaquePointer
  let order: OpaquePointer
  private let context: OpaquePointer
  private var numbers: [OpaquePointer] = []
  private var points: [OpaquePointer] = []

  init() throws {
    curve = try #require(EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1))
    context = try #require(BN_CTX_new())
    order = try #require(BN_new())
    try #require(EC_GROUP_get_order(curve, order, context) == 1)
  }

  deinit {
    for number in numbers + [order] { BN_free(number) }
    for point in points { EC_POINT_free(point) }
    BN_CTX_free(context)
    EC_GROUP_free(curve)
  }

  // MARK: Numbers modulo the order

  func number(_ value: UInt = 0) throws -> OpaquePointer {
    let number = try #require(BN_new())
    numbers.append(number)
    try #require(BN_set_word(number, value) == 1)
    return number
  }

  func number(_ bytes: [UInt8]) throws -> OpaquePointer {
    let number = try self.number()
    try #require(BN_bin2bn(bytes, Int32(bytes.count), number) != nil)
    return number
  }

  func negative(_ value: OpaquePointer) throws -> OpaquePointer {
    let number = try self.number()
    try #require(BN_sub(number, order, value) == 1)
    return number
  }

  func product(_ first: OpaquePointer, _ second: OpaquePointer) throws -> OpaquePointer {
    let number = try self.number()
    try #require(BN_mod_mul(number, first, second, order, context) == 1)
    return number
  }

  func inverse(_ value: OpaquePointer) throws -> OpaquePointer {
    let number = try self.number()
    try #require(BN_mod_inverse(number, value, order, context) != nil)
    return number
  }

  func bytes(_ value: OpaquePointer) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 32)
    #expect(BN_bn2binpad(value, &bytes, 32) == 32)
    return bytes
  }

  // MARK: Points

  /// `scalar` G, and `multiple` `point` added to it.
  func sum(
    _ scalar: OpaquePointer?, _ multiple: OpaquePointer? = nil, _ point: OpaquePointer? = nil
  ) throws -> OpaquePointer {
    let result = try #require(EC_POINT_new(curve))
    points.append(result)
    try #require(EC_POINT_mul(curve, result, scalar, point, multiple, context) == 1)
    return result
  }

  /// The point with this x, and an even y; nil if there is none.
  func point(x: OpaquePointer) throws -> OpaquePointer? {
    let result = try #require(EC_POINT_new(curve))
    points.append(result)
    guard EC_POINT_set_compressed_coordinates(curve, result, x, 0, context) == 1 else {
      ERR_clear_error()
      return nil
    }
    return result
  }

  func x(_ point: OpaquePointer) throws -> OpaquePointer {
    let x = try number()
    try #require(EC_POINT_get_affine_coordinates(curve, point, x, nil, context) == 1)
    return x
  }

  /// x modulo the order: the r of a signature with this point.
  func r(_ point: OpaquePointer) throws -> OpaquePointer {
    let r = try number()
    try #require(BN_nnmod(r, try x(point), order, context) == 1)
    return r
  }

  func isInfinity(_ point: OpaquePointer) -> Bool { EC_POINT_is_at_infinity(curve, point) == 1 }

  /// The public key with this point, as read from a certificate.
  func key(_ point: OpaquePointer) throws -> VerifyingKey {
    var encoded = [UInt8](repeating: 0, count: 65)
    try #require(
      EC_POINT_point2oct(curve, point, POINT_CONVERSION_UNCOMPRESSED, &encoded, 65, context) == 65)
    // SubjectPublicKeyInfo of a key on P-256 (RFC 5480).
    let document: [UInt8] =
      [
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08,
        0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
      ] + encoded
    let pointer = document.withUnsafeBufferPointer { buffer in
      var position = buffer.baseAddress
      return d2i_PUBKEY(nil, &position, buffer.count)
    }
    return try VerifyingKey(owning: try #require(pointer))
  }
}
