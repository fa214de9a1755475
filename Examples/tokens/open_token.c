/* cc open_token.c $(pkg-config --cflags --libs applepaytoken) -o open_token
 * ./open_token SETTINGS-FILE AMOUNT CURRENCY [AT] TOKEN-FILE…
 *
 * SETTINGS-FILE is the JSON of apt_open. AT is for tokens of a test: when they arrived, in seconds since 1970. */
#include <applepaytoken.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *contents(const char *path, size_t *length) {
  FILE *file = fopen(path, "rb");
  char *bytes = malloc(1 << 20);
  if (!file || !bytes) {
    perror(path);
    exit(2);
  }
  *length = fread(bytes, 1, 1 << 20, file);
  fclose(file);
  return bytes;
}

/* A member whose value has no quotation mark in it: a shop reads the answer with the JSON library that it has. */
static const char *member(const apt_result *result, const char *name, int *length) {
  char key[64];
  snprintf(key, sizeof key, "\"%s\":", name);
  const char *value = strstr(result->json, key);
  if (!value) return *length = 0, "";
  value += strlen(key) + (value[strlen(key)] == '"');
  *length = (int)(value[-1] == '"' ? strcspn(value, "\"") : strcspn(value, ",}"));
  return value;
}

static int refused(apt_result *result) {
  int is_refused = result->stage != APT_DONE, code, advice;
  if (is_refused) {
    const char *name = member(result, "code", &code), *text = member(result, "advice", &advice);
    printf("refused: %.*s: %.*s\n", code, name, advice, text);
  }
  apt_free(result);
  return is_refused;
}

static int pay(const apt_result *keys, const char *path, const char *expected, int64_t time) {
  size_t size;
  char *token = contents(path, &size);
  apt_result *payment = apt_decrypt(keys, token, size, time);
  free(token);
  if (payment->stage != APT_DONE) return refused(payment);
  int problem = refused(apt_confirm(payment, expected, strlen(expected))) || refused(apt_spend(keys, payment));
  if (!problem) {
    int amount, currency, number, expiry;
    const char *units = member(payment, "amount", &amount), *code = member(payment, "currency", &currency);
    const char *card = member(payment, "applicationPrimaryAccountNumber", &number);
    const char *date = member(payment, "applicationExpirationDate", &expiry);
    printf("paid %.*s %.*s, card %.4s, until %.*s\n", amount, units, currency, code, card + number - 4, expiry, date);
  }
  apt_free(payment);
  return problem;
}

int main(int count, char **arguments) {
  if (count < 5) return fputs("open_token SETTINGS-FILE AMOUNT CURRENCY [AT] TOKEN-FILE…\n", stderr), 2;
  size_t length;
  char *settings = contents(arguments[1], &length), expected[200];
  apt_result *keys = apt_open(settings, length);
  memset(settings, 0, length);
  free(settings);
  if (keys->stage != APT_DONE) return refused(keys), 2;
  snprintf(expected, sizeof expected, "{\"amount\": %ld, \"currency\": \"%.3s\", \"applicationDataHash\": null}",
           atol(arguments[2]), arguments[3]);
  int first = isdigit((unsigned char)arguments[4][0]) ? 5 : 4, problems = 0;
  for (int index = first; index < count; index++)
    problems += pay(keys, arguments[index], expected, first == 5 ? atoll(arguments[4]) : APT_NOW);
  apt_free(keys);
  return problems > 0;
}
