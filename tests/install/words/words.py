"""What is violated in the history of a file at a level, from Python. Usage: words.py FILE LEVEL"""
import sys

import cupel

for anomaly in cupel.check(cupel.read(sys.argv[1]), levels=[sys.argv[2]])[sys.argv[2]].anomalies:
    print(f"{anomaly.name}: {anomaly.explanation}")
