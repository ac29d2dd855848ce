// The part of OpenSSL's libcrypto that Swift uses: its headers, and functions that replace macros
// and calls with C types that Swift cannot import.

#ifndef ENTITLE_COPENSSL_SHIM_H
#define ENTITLE_COPENSSL_SHIM_H

#include <openssl/asn1.h>
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/cms.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/ecerr.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/objects.h>
#include <openssl/ocsp.h>
#include <openssl/params.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <stdint.h>
#include <time.h>

// Reading certificates and messages.

// Writes a name as RFC 2253 text. UTF-8 is kept, and control characters are escaped. Returns the
// length, or a negative number on failure.
static inline int entitle_name_print(BIO *output, const X509_NAME *name) {
  return X509_NAME_print_ex(output, name, 0, XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB);
}

// Seconds since the Unix epoch. Returns 1, or 0 when `time` cannot be read as a date.
static inline int entitle_asn1_time_seconds(const ASN1_TIME *time, int64_t *seconds) {
  struct tm parts;
  if (time == NULL || ASN1_TIME_to_tm(time, &parts) != 1) return 0;
  *seconds = (int64_t)timegm(&parts);
  return 1;
}

// The subject alternative names of a certificate (RFC 5280 section 4.2.1.6), owned by the caller.
// NULL if it has none, or more than one such extension.
static inline GENERAL_NAMES *entitle_alternative_names(const X509 *certificate) {
  return (GENERAL_NAMES *)X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
}

// The type of a name (GEN_DNS, GEN_URI), and its bytes, owned by `names`. -1 for a name of another
// type, and after the last name.
static inline int entitle_alternative_name(const GENERAL_NAMES *names, int index,
                                           const unsigned char **bytes, int *length) {
  const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, index);
  if (name == NULL || (name->type != GEN_DNS && name->type != GEN_URI)) return -1;
  *bytes = ASN1_STRING_get0_data(name->d.ia5);
  *length = ASN1_STRING_length(name->d.ia5);
  return name->type;
}

static inline int entitle_alternative_name_count(const GENERAL_NAMES *names) {
  return sk_GENERAL_NAME_num(names);
}

static inline void entitle_alternative_names_free(GENERAL_NAMES *names) {
  GENERAL_NAMES_free(names);
}

// The signer of a message, owned by the message. NULL unless there is exactly one.
static inline CMS_SignerInfo *entitle_cms_only_signer(CMS_ContentInfo *message) {
  STACK_OF(CMS_SignerInfo) *signers = CMS_get0_SignerInfos(message);
  if (signers == NULL || sk_CMS_SignerInfo_num(signers) != 1) return NULL;
  return sk_CMS_SignerInfo_value(signers, 0);
}

// Multiples of a fixed point. OpenSSL 3 deprecates these calls and has no other; a build without them
// is one without tables.

// Computes the table of multiples of the group's generator. Returns 1, or 0 when there is none.
static inline int entitle_ec_group_precompute(EC_GROUP *group, BN_CTX *context) {
#ifdef OPENSSL_NO_DEPRECATED_3_0
  (void)group, (void)context;
  return 0;
#else
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  return EC_GROUP_precompute_mult(group, context) == 1 && EC_GROUP_have_precompute_mult(group) == 1;
#pragma GCC diagnostic pop
#endif
}

// The Jacobian coordinates x and z of a point: its affine x is x/z². Returns 1, or 0 on failure.
static inline int entitle_ec_point_jacobian(const EC_GROUP *group, const EC_POINT *point, BIGNUM *x,
                                            BIGNUM *z, BN_CTX *context) {
#ifdef OPENSSL_NO_DEPRECATED_3_0
  (void)group, (void)point, (void)x, (void)z, (void)context;
  return 0;
#else
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  return EC_POINT_get_Jprojective_coordinates_GFp(group, point, x, NULL, z, context);
#pragma GCC diagnostic pop
#endif
}

#endif
