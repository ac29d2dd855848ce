import COpenSSL

extension Certificate {
  /// How a CMS signer names this certificate (RFC 5652 section 10.2.4): the issuer's name and the
  /// serial number in DER, one after the other, as they are in the certificate.
  package var issuerAndSerialNumber: [UInt8] {
    defer { ERR_clear_error() }
    var name: UnsafePointer<UInt8>?
    var length = 0
    // The name belongs to the certificate, and lives as long.
    guard X509_NAME_get0_der(X509_get_issuer_name(pointer), &name, &length) == 1 else { return [] }
    var number: UnsafeMutablePointer<UInt8>?
    let numberLength = i2d_ASN1_INTEGER(X509_get0_serialNumber(pointer), &number)
    defer { CRYPTO_free(number, nil, 0) }
    return Array(UnsafeBufferPointer(start: name, count: length))
      + UnsafeBufferPointer(start: number, count: max(0, Int(numberLength)))
  }
}
