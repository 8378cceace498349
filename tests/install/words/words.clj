;; What is violated in the history of a file at a level, from Clojure: what the Jepsen checker says of
;; the file's operations. Arguments: FILE (JSON lines), LEVEL, the program.
(require '[clojure.string :as str]
         '[cupel.checker :as cupel])

(let [[file level program] *command-line-args*
      operation (fn [line]
                  (-> (#'cupel/read-json line)
                      (update :type keyword)
                      (update :f keyword)
                      (as-> op (if (= :txn (:f op))
                                 (update op :value (partial mapv (fn [[f k v]] [(keyword f) k v])))
                                 op))))
      found (cupel/check (map operation (str/split-lines (slurp file)))
                         {:levels [level], :command [program]})]
  (doseq [[anomaly explanation] (map vector (:anomaly-types found) (:explanations found))]
    (println (str (name anomaly) ": " explanation)))
  (shutdown-agents))
