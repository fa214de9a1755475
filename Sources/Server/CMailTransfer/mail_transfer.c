#include "mail_transfer.h"

#include <curl/curl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// The server's last answer, of one line or several, without line ends.
struct reply {
  char text[1024];
  size_t length;
  /// Whether the next line begins another answer.
  int is_complete;
  int was_authenticated;
};

struct upload {
  const uint8_t *bytes;
  size_t length;
  size_t sent;
};

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void initialize(void) { curl_global_init(CURL_GLOBAL_DEFAULT); }

/// Keeps a line of an answer: `250-SIZE` continues, `250 OK` ends it.
static size_t keep_line(char *line, size_t size, size_t count, void *context) {
  struct reply *reply = context;
  size_t length = size * count;
  // The answer to QUIT, which libcurl says after a failure too.
  if (length >= 3 && strncmp(line, "221", 3) == 0) return length;
  while (length > 0 && (line[length - 1] == '\r' || line[length - 1] == '\n')) length--;
  if (reply->is_complete) reply->length = 0;
  if (reply->length > 0 && reply->length < sizeof reply->text - 1) reply->text[reply->length++] = ' ';
  for (size_t i = 0; i < length && reply->length < sizeof reply->text - 1; i++) {
    unsigned char byte = (unsigned char)line[i];
    reply->text[reply->length++] = byte >= 0x20 && byte < 0x7F ? (char)byte : '?';
  }
  reply->text[reply->length] = 0;
  reply->is_complete = length < 4 || line[3] != '-';
  if (length >= 3 && strncmp(line, "235", 3) == 0) reply->was_authenticated = 1;
  return size * count;
}

static size_t drop(char *bytes, size_t size, size_t count, void *context) {
  (void)bytes;
  (void)context;
  return size * count;
}

static size_t next_part(char *buffer, size_t size, size_t count, void *context) {
  struct upload *upload = context;
  size_t rest = upload->length - upload->sent;
  size_t part = size * count < rest ? size * count : rest;
  memcpy(buffer, upload->bytes + upload->sent, part);
  upload->sent += part;
  return part;
}

/// Roots and behind them the system's file of roots, because a blob takes the file's place.
static char *beside_the_system(const char *roots) {
  const char *path = curl_version_info(CURLVERSION_NOW)->cainfo;
  FILE *file = path == NULL ? NULL : fopen(path, "r");
  size_t length = strlen(roots), size = length + 2;
  long system = 0;
  if (file != NULL && fseek(file, 0, SEEK_END) == 0 && (system = ftell(file)) > 0) size += (size_t)system;
  char *text = malloc(size);
  if (text != NULL) {
    memcpy(text, roots, length);
    text[length++] = '\n';
    if (system > 0 && fseek(file, 0, SEEK_SET) == 0) length += fread(text + length, 1, (size_t)system, file);
    text[length] = 0;
  }
  if (file != NULL) fclose(file);
  return text;
}

static void set_trust(CURL *curl, const char *roots, const char *more) {
  curl_easy_setopt(curl, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
  curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 1L);
  curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 2L);
  if (roots == NULL && more == NULL) return;
  char *text = roots == NULL ? beside_the_system(more) : strdup(roots);
  if (text == NULL) return;
  struct curl_blob blob = {text, strlen(text), CURL_BLOB_COPY};
  curl_easy_setopt(curl, CURLOPT_CAINFO_BLOB, &blob);
  if (roots != NULL) curl_easy_setopt(curl, CURLOPT_CAPATH, NULL);
  free(text);
}

static void set_proxy(CURL *curl, const char *proxy, const char *user, const char *password) {
  // What is meant for other programs of this machine is not for this one.
  curl_easy_setopt(curl, CURLOPT_NOPROXY, "");
  curl_easy_setopt(curl, CURLOPT_PROXY, proxy == NULL ? "" : proxy);
  if (proxy == NULL) return;
  curl_easy_setopt(curl, CURLOPT_HTTPPROXYTUNNEL, 1L);
  curl_easy_setopt(curl, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  curl_easy_setopt(curl, CURLOPT_PROXYAUTH, (long)CURLAUTH_BASIC);
  if (user == NULL) return;
  curl_easy_setopt(curl, CURLOPT_PROXYUSERNAME, user);
  curl_easy_setopt(curl, CURLOPT_PROXYPASSWORD, password == NULL ? "" : password);
}

static void set_server(CURL *curl, const char *url, int requires_tls, const char *user, const char *password) {
  curl_easy_setopt(curl, CURLOPT_URL, url);
#if LIBCURL_VERSION_NUM >= 0x075500
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "smtp,smtps");
#else
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS, (long)(CURLPROTO_SMTP | CURLPROTO_SMTPS));
#endif
  curl_easy_setopt(curl, CURLOPT_USE_SSL, requires_tls ? (long)CURLUSESSL_ALL : (long)CURLUSESSL_NONE);
  curl_easy_setopt(curl, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  if (user == NULL) return;
  curl_easy_setopt(curl, CURLOPT_USERNAME, user);
  curl_easy_setopt(curl, CURLOPT_PASSWORD, password == NULL ? "" : password);
}

static struct curl_slist *set_message(CURL *curl, const char *sender, const char *recipient, struct upload *upload) {
  if (recipient == NULL) {
    curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, "NOOP");
    return NULL;
  }
  struct curl_slist *recipients = curl_slist_append(NULL, recipient);
  curl_easy_setopt(curl, CURLOPT_MAIL_FROM, sender);
  curl_easy_setopt(curl, CURLOPT_MAIL_RCPT, recipients);
  curl_easy_setopt(curl, CURLOPT_UPLOAD, 1L);
  curl_easy_setopt(curl, CURLOPT_READFUNCTION, next_part);
  curl_easy_setopt(curl, CURLOPT_READDATA, upload);
  curl_easy_setopt(curl, CURLOPT_INFILESIZE_LARGE, (curl_off_t)upload->length);
  return recipients;
}

static int stage(CURLcode code) {
  switch (code) {
    case CURLE_OK: return MAIL_TRANSFER_DONE;
    case CURLE_LOGIN_DENIED:
    case CURLE_AUTH_ERROR: return MAIL_TRANSFER_AUTHENTICATION;
    case CURLE_USE_SSL_FAILED:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER: return MAIL_TRANSFER_TLS;
    case CURLE_URL_MALFORMAT:
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
    case CURLE_OPERATION_TIMEDOUT:
    case CURLE_WEIRD_SERVER_REPLY: return MAIL_TRANSFER_CONNECTION;
    default: return MAIL_TRANSFER_MESSAGE;
  }
}

static void copy(char *target, size_t size, const char *text) {
  size_t length = strnlen(text, size - 1);
  memcpy(target, text, length);
  target[length] = 0;
}

/// Whether a proxy did not connect. Its answer is none of the mail server.
static int proxy_refused(CURL *curl, CURLcode code, long *status) {
  *status = 0;
  curl_easy_getinfo(curl, CURLINFO_HTTP_CONNECTCODE, status);
  return code != CURLE_OK && (*status < 200 || *status > 299);
}

int mail_transfer_run(const char *url, int requires_tls, const char *user, const char *password, const char *roots,
                      const char *more_roots, const char *proxy, const char *proxy_user, const char *proxy_password,
                      const char *sender, const char *recipient, const uint8_t *message, size_t length,
                      long connect_milliseconds, long total_milliseconds, long *response, char *answer,
                      size_t answer_size, char *problem, size_t problem_size) {
  pthread_once(&once, initialize);
  CURL *curl = curl_easy_init();
  *response = 0;
  copy(answer, answer_size, "");
  copy(problem, problem_size, "libcurl cannot be started");
  if (curl == NULL) return MAIL_TRANSFER_CONNECTION;

  char words[CURL_ERROR_SIZE] = "";
  struct reply reply = {{0}, 0, 0, 0};
  struct upload upload = {message, length, 0};
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, words);
  curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, keep_line);
  curl_easy_setopt(curl, CURLOPT_HEADERDATA, &reply);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, drop);
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, connect_milliseconds);
  curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, total_milliseconds);
  set_server(curl, url, requires_tls, user, password);
  set_trust(curl, roots, more_roots);
  set_proxy(curl, proxy, proxy_user, proxy_password);
  struct curl_slist *recipients = set_message(curl, sender, recipient, &upload);

  CURLcode code = curl_easy_perform(curl);
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, response);
  int reached = stage(code);
  copy(problem, problem_size, words[0] == 0 ? curl_easy_strerror(code) : words);
  long connect_status = 0;
  if (proxy != NULL && proxy_refused(curl, code, &connect_status)) {
    reached = MAIL_TRANSFER_CONNECTION;
    *response = 0;
    reply.text[0] = 0;
    if (connect_status == 407) copy(problem, problem_size, "the proxy refuses the user or the password: status 407");
  }
  // libcurl goes on without authentication where the server offers none. A message that it took then is delivered.
  if (reached == MAIL_TRANSFER_DONE && recipient == NULL && user != NULL && !reply.was_authenticated) {
    reached = MAIL_TRANSFER_AUTHENTICATION;
    copy(problem, problem_size, "the server offers no authentication");
  }
  copy(answer, answer_size, reply.text);
  // QUIT is said here, and its answer is of no interest.
  curl_easy_cleanup(curl);
  curl_slist_free_all(recipients);
  return reached;
}
