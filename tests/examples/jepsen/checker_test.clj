;; examples/jepsen on histories of maps, with plain Clojure: verdicts, anomalies and errors. The first
;; argument says whether a jepsen.checker is on the class path; the second is the program cupel.
(require '[clojure.test :refer [deftest is run-tests]]
         '[clojure.string :as str]
         '[cupel.checker :as cupel])

(def with-jepsen (= "jepsen" (first *command-line-args*)))
(def program {:command [(second *command-line-args*)]})

(defn txn [process from to value]
  [{:type :invoke, :process process, :f :txn, :time from,
    :value (mapv (fn [[f k v]] [f k (when-not (= :r f) v)]) value)}
   {:type :ok, :process process, :f :txn, :time to, :value value, :node "n1",
    :exception (Exception. "no EDN")}])

(defn history [& txns] (sort-by :time (apply concat txns)))

(def serial (history (txn 0 1 2 [[:append :x 1]]) (txn 1 3 4 [[:r :x [1]] [:append :x 2]])
                     (txn 0 5 6 '([:r :x (1 2)]))))
;; A single read away: the last one misses an append that was acknowledged.
(def stale (history (txn 0 1 2 [[:append :x 1]]) (txn 1 3 4 [[:r :x [1]] [:append :x 2]])
                    (txn 0 5 6 [[:r :x [1]]])))
(def lost-update (history (txn 0 1 4 [[:r "a:\"b\" null" nil] [:w "a:\"b\" null" 1]])
                          (txn 1 2 5 [[:r "a:\"b\" null" nil] [:w "a:\"b\" null" 2]])))

(deftest verdicts
  (is (= {:valid? true, :verdicts {:strict-serializable :satisfied}} (cupel/check serial program)))
  (let [found (cupel/check stale program)]
    (is (false? (:valid? found)))
    (is (= [:strict-serializable] (:not found))))
  (is (:valid? (cupel/check stale (assoc program :levels [:serializable])))))

(deftest anomalies
  (let [found (cupel/check lost-update (assoc program :levels [:read-committed :snapshot-isolation]))]
    (is (= {:read-committed :satisfied, :snapshot-isolation :violated} (:verdicts found)))
    (is (= [:lost-update] (:anomaly-types found)))
    (is (str/starts-with? (first (:explanations found)) "An update was lost."))))

(deftest long-histories-are-not-cut
  (binding [*print-length* 2]
    (is (:valid? (cupel/check serial program)))))

(deftest errors
  (is (thrown-with-msg? Exception #"no level" (cupel/check serial (assoc program :levels [:none]))))
  (is (thrown-with-msg? Exception #"bank" (cupel/check [{:type :ok, :process 0, :f :transfer, :value {:a 1}}]
                                                       program)))
  (is (thrown-with-msg? Exception #"cannot start /nowhere/cupel"
                        (cupel/check serial {:command ["/nowhere/cupel"]}))))

(deftest jepsen
  (let [checker (cupel/checker program)]
    (is (:valid? (checker {} serial {})))
    (is (= with-jepsen (boolean (find-ns 'jepsen.checker))))
    (when with-jepsen
      (is (:valid? ((resolve 'jepsen.checker/check) checker {} serial {})))
      (is (false? (:valid? ((resolve 'jepsen.checker/check) checker {} stale {})))))))

(let [{:keys [fail error]} (run-tests)]
  (shutdown-agents)
  (System/exit (if (zero? (+ fail error)) 0 1)))
