// What is violated in the history of a file at a level, from Node. Usage: node words.mjs FILE LEVEL
import * as cupel from "cupel";

const [file, level] = process.argv.slice(2);
for (const one of cupel.check(cupel.read(file), { levels: [level] }).levels) {
  for (const anomaly of one.anomalies) console.log(`${anomaly.name}: ${anomaly.explanation}`);
}
