/* libapplepaytoken: verifies and decrypts Apple Pay payment tokens, EC_v1 and RSA_v1.
 *
 * Every call takes bytes or JSON and returns an apt_result, which apt_free frees. There is no global state. Every function may be called
 * by several threads at once, also with the same keys; a result may be freed when no other call uses it. The library prints nothing,
 * opens no file and no connection.
 *
 * Card data: apt_free overwrites a result before it frees it. Copies that the caller makes are the caller's.
 */
#ifndef APPLEPAYTOKEN_H
#define APPLEPAYTOKEN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the library, and of its interface: the number of its shared object's name. Another number means that programs must be
 * compiled again. */
#define APT_VERSION "0.1.0"
#define APT_ABI_VERSION 1

/* As the time of a payment token's arrival: now, by the machine's clock. */
#define APT_NOW INT64_MIN

/* Which step refused the payment token. Later versions may add stages. */
enum {
  APT_DONE = 0,
  APT_FORMAT = 1,       /* the JSON, its encodings and the outer form of the signature */
  APT_CERTIFICATES = 2, /* the two certificates of the signature */
  APT_CHAIN = 3,        /* from the signer's certificate to a root that is trusted */
  APT_SIGNATURE = 4,    /* the signature over the token */
  APT_SIGNING_TIME = 5, /* when Apple signed */
  APT_KEY = 6,          /* the merchant's private key */
  APT_UNWRAP = 7,       /* from the private key to the token's own key */
  APT_DECRYPT = 8,      /* the encrypted data */
  APT_PAYLOAD = 9,      /* the decrypted payment data */
  APT_REPLAY = 10,      /* whether the token was used before */
  APT_ORDER = 11,       /* whether it pays this order */
  APT_CALL = 12         /* a mistake in the call; the token was not looked at */
};

typedef struct apt_result {
  int32_t stage;      /* APT_DONE, or the stage that refused */
  const char *json;   /* the answer, an object in UTF-8; a zero byte follows. Of a refusal: stage, code, reason, advice, maybe field */
  size_t length;      /* of the answer, without the zero byte */
  const void *handle; /* the library's own */
} apt_result;

/* Reads the keys, at the start of a program:
 *
 *   {"keys": [{"privateKey": "-----BEGIN…", "certificate": "-----BEGIN…"}], "environment": "production"}
 *
 * A key has certificate, the payment processing certificate, or merchantIdentifier. environment is production, which is the default,
 * apple-sandbox, or simulated with the PEM of that sandbox's root as root. replayWindow is how many payment tokens the window of ten
 * minutes holds, 200000 by default. The result is the first argument of the calls below. The library keeps no copy of the text; the
 * caller overwrites its own. */
apt_result *apt_open(const void *settings, size_t length);

/* What a payment token says of itself. Nothing is verified. */
apt_result *apt_inspect(const void *token, size_t length);

/* Verifies a payment token: the bytes as they arrived, at this time in seconds since 1970. */
apt_result *apt_verify(const apt_result *keys, const void *token, size_t length, int64_t time);

/* Verifies and decrypts one. The answer holds paymentData: the account number and the cryptogram. */
apt_result *apt_decrypt(const apt_result *keys, const void *token, size_t length, int64_t time);

/* Checks that the token, a result of apt_decrypt, pays what is expected:
 *
 *   {"amount": 1250, "currency": "EUR", "applicationDataHash": null}
 *
 * in minor units, and with SHA-256 of the payment request's applicationData in hexadecimal, or null where it had none. Of a result of
 * apt_verify the hash alone can be checked. */
apt_result *apt_confirm(const apt_result *token, const void *expected, size_t length);

/* Accepts each token once, as long as these keys live: a program that runs twice, or starts again within ten minutes, needs unique
 * columns in a database instead. */
apt_result *apt_spend(const apt_result *keys, const apt_result *token);

/* Overwrites and frees a result; NULL is allowed. */
void apt_free(apt_result *result);

/* APT_VERSION of the library that runs. */
const char *apt_version(void);

#ifdef __cplusplus
}
#endif

#endif
