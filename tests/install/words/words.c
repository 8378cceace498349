/* What is violated in the history of a file at a level, from C: "NAME: EXPLANATION" for each anomaly.
 * Usage: words FILE LEVEL */
#include <cupel/cupel.h>
#include <stdio.h>

int main(int argc, char** argv) {
  if (argc != 3) return 3;
  cupel_history* history = cupel_history_read(argv[1], NULL);
  cupel_options options;
  cupel_options_init(&options, sizeof options);
  options.levels = argv[2];
  cupel_answer* answer = history == NULL ? NULL : cupel_check(history, &options);
  if (answer == NULL) {
    fprintf(stderr, "%s\n", cupel_error());
    cupel_history_free(history);
    return 3;
  }
  for (size_t i = 0; i < cupel_answer_anomaly_count(answer, 0); ++i) {
    printf("%s: %s\n", cupel_answer_anomaly(answer, 0, i), cupel_answer_explanation(answer, 0, i));
  }
  cupel_answer_free(answer);
  cupel_history_free(history);
  return 0;
}
