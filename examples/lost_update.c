/* A lost update, from C: the history of include/cupel/cupel.h, and why snapshot isolation forbids
 * it.
 *
 *   cc lost_update.c $(pkg-config --cflags --libs cupel) && ./a.out
 */
#include <cupel/cupel.h>
#include <stdio.h>

/* A client reads x and writes it. */
static void transaction(cupel_builder* builder, const char* client, int64_t seen, int64_t written) {
  cupel_builder_transaction(builder, client);
  if (seen != 0) cupel_builder_read(builder, cupel_text("x"), cupel_integer(seen));
  cupel_builder_write(builder, cupel_text("x"), cupel_integer(written));
}

int main(void) {
  cupel_builder* builder = cupel_builder_new();
  transaction(builder, "alice", 0, 1);
  transaction(builder, "bob", 1, 2);
  transaction(builder, "carol", 1, 3);
  cupel_history* history = cupel_builder_build(builder);
  cupel_builder_free(builder);

  cupel_options options;
  cupel_options_init(&options, sizeof options);
  options.levels = "snapshot-isolation";
  cupel_answer* answer = history == NULL ? NULL : cupel_check(history, &options);
  if (answer == NULL) {
    fprintf(stderr, "%s\n", cupel_error());
    cupel_history_free(history);
    return 3;
  }
  const cupel_verdict verdict = cupel_answer_verdict(answer, 0);
  if (verdict == CUPEL_VIOLATED) {
    printf("%s: %s\n", cupel_answer_anomaly(answer, 0, 0), cupel_answer_explanation(answer, 0, 0));
  }
  cupel_answer_free(answer);
  cupel_history_free(history);
  return (int)verdict;
}
