#ifndef MAIL_TRANSFER_H
#define MAIL_TRANSFER_H

#include <stddef.h>
#include <stdint.h>

/// How far a transfer came.
enum mail_transfer_stage {
  /// The server took the message, or, without one, accepted the greeting and the user.
  MAIL_TRANSFER_DONE = 0,
  /// No connection, or no answer in time.
  MAIL_TRANSFER_CONNECTION = 1,
  /// No TLS, or a certificate that is not trusted.
  MAIL_TRANSFER_TLS = 2,
  /// The server refused the user, or offers no way to authenticate.
  MAIL_TRANSFER_AUTHENTICATION = 3,
  /// The server refused the sender, the recipient or the message.
  MAIL_TRANSFER_MESSAGE = 4,
};

/// Delivers a message, or only connects and authenticates where `recipient` is NULL. Blocks.
///
/// - `url`: `smtp://host:port/name` or `smtps://host:port/name`; the name is the one that EHLO carries.
/// - `requires_tls`: not 0 where nothing may be sent without TLS.
/// - `user`, `password`: NULL for none.
/// - `roots`: the only trusted roots, PEM; NULL for the system's. `more_roots`: trusted beside the system's, or NULL.
/// - `proxy`: `http://host:port` of a proxy that is asked with CONNECT, or NULL; `proxy_user`, `proxy_password`: NULL for
///   none.
/// - `connect_milliseconds`: for the connection with TLS and authentication; `total_milliseconds` for all of it.
///
/// Returns a `mail_transfer_stage`. `response` gets the last SMTP code or 0, `answer` the server's last answer, `problem`
/// libcurl's words of what went wrong. Both end in 0.
int mail_transfer_run(const char *url, int requires_tls, const char *user, const char *password, const char *roots,
                      const char *more_roots, const char *proxy, const char *proxy_user, const char *proxy_password,
                      const char *sender, const char *recipient, const uint8_t *message, size_t length,
                      long connect_milliseconds, long total_milliseconds, long *response, char *answer,
                      size_t answer_size, char *problem, size_t problem_size);

#endif
