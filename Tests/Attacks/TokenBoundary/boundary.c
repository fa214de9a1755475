/* Mutants of payment tokens, and the other calls, through the C boundary: under AddressSanitizer, ThreadSanitizer or neither.
 *
 *   boundary SETTINGS AT COUNT THREADS SEED TOKEN…
 *
 * Each of COUNT calls changes a token in a few places. A mutant that opens must have the same answer as the token itself. All threads
 * share the keys, and together they may spend each token once. */
#include <applepaytoken.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIMIT = 1 << 20, TOKENS = 64 };

typedef struct { char *bytes; size_t length; apt_result *answer; atomic_int spent; } Token;

static Token tokens[TOKENS];
static int token_count;
static apt_result *keys;
static int64_t arrival;
static long calls;
static atomic_long opened, refused;

static uint64_t next(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  return *state ^= *state << 17;
}

static void demand(int holds, const char *what) {
  if (holds) return;
  fprintf(stderr, "boundary: %s\n", what);
  abort();
}

static char *contents(const char *path, size_t *length) {
  FILE *file = fopen(path, "rb");
  demand(file != NULL, path);
  char *bytes = malloc(LIMIT);
  *length = fread(bytes, 1, LIMIT, file);
  fclose(file);
  return bytes;
}

static size_t mutate(char *bytes, size_t length, uint64_t *state) {
  int edits = 1 + (int)(next(state) % 3);
  while (edits-- > 0 && length > 1) {
    size_t place = next(state) % length, size = next(state) % (length - place) % 40;
    switch (next(state) % 5) {
    case 0: bytes[place] ^= (char)(1 << next(state) % 8); break;
    case 1: bytes[place] = (char)next(state); break;
    case 2: memmove(bytes + place, bytes + place + size, length - place - size); length -= size; break;
    case 3: bytes[place] = "{}[]\",:\\0eA+/="[next(state) % 15]; break;
    default: length = place; break;
    }
  }
  return length;
}

static void *work(void *seed) {
  uint64_t state = (uint64_t)(uintptr_t)seed;
  char *mutant = malloc(LIMIT);
  for (long call = 0; call < calls; call++) {
    Token *token = &tokens[next(&state) % token_count];
    memcpy(mutant, token->bytes, token->length);
    int is_whole = next(&state) % 16 == 0;
    size_t length = is_whole ? token->length : mutate(mutant, token->length, &state);
    apt_result *found = apt_decrypt(keys, mutant, length, arrival);
    demand(strlen(found->json) == found->length, "the answer is no text");
    if (found->stage == APT_DONE) {
      atomic_fetch_add(&opened, 1);
      demand(strcmp(found->json, token->answer->json) == 0, "a mutant opens");
      apt_result *spent = apt_spend(keys, found);
      demand(spent->stage == APT_DONE || spent->stage == APT_REPLAY, "neither spent nor refused as a replay");
      if (spent->stage == APT_DONE) demand(atomic_fetch_add(&token->spent, 1) == 0, "a token was spent twice");
      apt_free(spent);
    } else {
      atomic_fetch_add(&refused, 1);
      demand(!is_whole, "a token does not open");
    }
    if (next(&state) % 8 == 0) {
      apt_free(apt_inspect(mutant, length));
      apt_free(apt_verify(keys, mutant, length, APT_NOW));
      apt_free(apt_confirm(found, mutant, length));
      apt_free(apt_open(mutant, length));
      apt_free(apt_spend(found, keys));
    }
    apt_free(found);
  }
  free(mutant);
  return NULL;
}

int main(int count, char **arguments) {
  demand(count >= 7, "SETTINGS AT COUNT THREADS SEED TOKEN…");
  size_t length;
  char *settings = contents(arguments[1], &length);
  keys = apt_open(settings, length);
  free(settings);
  demand(keys->stage == APT_DONE, "the keys");
  arrival = atoll(arguments[2]);
  int threads = atoi(arguments[4]);
  calls = atol(arguments[3]) / threads;
  for (int index = 6; index < count && token_count < TOKENS; index++, token_count++) {
    Token *token = &tokens[token_count];
    token->bytes = contents(arguments[index], &token->length);
    token->answer = apt_decrypt(keys, token->bytes, token->length, arrival);
    demand(token->answer->stage == APT_DONE, arguments[index]);
  }
  pthread_t running[64];
  for (int index = 0; index < threads; index++)
    pthread_create(&running[index], NULL, work, (void *)(uintptr_t)(strtoull(arguments[5], NULL, 10) * 64 + index + 1));
  for (int index = 0; index < threads; index++) pthread_join(running[index], NULL);
  for (int index = 0; index < token_count; index++) {
    apt_free(tokens[index].answer);
    free(tokens[index].bytes);
  }
  apt_free(keys);
  printf("boundary: %ld opened, %ld refused by %d threads\n", atomic_load(&opened), atomic_load(&refused), threads);
  return 0;
}
