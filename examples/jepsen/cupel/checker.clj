(ns cupel.checker
  "A Jepsen checker that asks cupel. Copy this file to src/cupel/ of your test; it needs Clojure and the
  program `cupel`, and no other library.

      (require '[cupel.checker :as cupel])
      {:checker (cupel/checker {:levels [:snapshot-isolation]})}

  Where Jepsen is there, the checker implements jepsen.checker/Checker. It is also a function of test,
  history and options, and (check history options) needs no test:

      (cupel/check [{:type :ok, :process 0, :f :txn, :value [[:append :x 1]]} ...]
                   {:levels [:serializable]})
      => {:valid? false, :not [:serializable], :anomaly-types [:write-skew], :verdicts {...}, ...}

  Options:
    :levels   the levels that the history must satisfy, by the names of `cupel levels`.
              Default: [:strict-serializable]
    :command  the program and its first arguments. Default: [\"cupel\"]
    :timeout  seconds for the check; without it no limit. Undecided levels make :valid? :unknown
    :report   a folder for the report page
    :args     further arguments of `cupel check`

  If cupel cannot be started, or rejects the history, check throws an ex-info with cupel's message.
  Jepsen's check-safe turns that into :valid? :unknown."
  (:require [clojure.edn :as edn]
            [clojure.java.io :as io]
            [clojure.java.shell :as shell]
            [clojure.string :as str]
            [clojure.walk :as walk])
  (:import (java.io File IOException)))

(defn- line
  "The fields that mean something, as EDN. Others may hold what is no EDN, such as exceptions."
  [op]
  (let [op (into {} (filter (comp some? val))
                 (select-keys op [:index :type :process :f :value :time :node :error]))]
    (pr-str (cond-> op (:error op) (update :error pr-str)))))

(defn- write-history! [file history]
  (binding [*print-length* nil, *print-level* nil, *print-namespace-maps* false, *print-meta* false]
    (with-open [out (io/writer file :encoding "UTF-8")]
      (doseq [op history]
        (.write out ^String (line op))
        (.write out "\n")))))

(defn- read-json
  "JSON is EDN but for its colons and null, which stand outside of strings."
  [text]
  (->> (str/replace text #"\"(?:\\.|[^\"\\])*\"|:" #(if (= ":" %) " " (str/replace % "\\/" "/")))
       edn/read-string
       (walk/postwalk #(cond (= 'null %) nil
                             (map? %) (into {} (map (fn [[k v]] [(keyword k) v])) %)
                             :else %))))

(defn- run [command]
  (try (apply shell/sh command)
       (catch IOException error
         (throw (ex-info (str "cannot start " (first command) ": " (.getMessage error)
                              "; install cupel, or name it with :command")
                         {:type ::not-started, :command command} error)))))

(defn- result [answer]
  (let [levels (:levels answer)
        having (fn [verdict] (mapv (comp keyword :level) (filter #(= verdict (:verdict %)) levels)))
        anomalies (mapcat :anomalies levels)
        violated (having "violated")]
    (cond-> {:valid? (cond (seq violated) false
                           (every? #(= "satisfied" (:verdict %)) levels) true
                           :else :unknown)
             :verdicts (into {} (map (juxt (comp keyword :level) (comp keyword :verdict))) levels)}
      (seq violated) (assoc :not violated
                            :anomaly-types (vec (sort (distinct (map (comp keyword :name) anomalies))))
                            :explanations (vec (distinct (map :explanation anomalies))))
      (some :detail levels) (assoc :details (vec (distinct (keep :detail levels)))))))

(defn check
  "Is the history, a collection of operation maps, valid? See the namespace for the options."
  ([history] (check history {}))
  ([history {:keys [levels command timeout report args]
             :or {levels [:strict-serializable], command ["cupel"]}}]
   (let [file (File/createTempFile "cupel-history" ".edn")]
     (try
       (write-history! file history)
       (let [arguments (concat command ["check" "--json" "-l" (str/join "," (map name levels))]
                               (when timeout ["--timeout" (str timeout)])
                               (when report ["--report" (str report)])
                               args
                               [(.getPath file)])
             {:keys [exit out err]} (run (vec arguments))]
         (when-not (#{0 1 2} exit)
           (throw (ex-info (str "cupel: " (str/trim err)) {:type ::rejected, :exit exit})))
         (result (read-json out)))
       (finally (io/delete-file file true))))))

(defrecord Checker [options]
  clojure.lang.IFn
  (invoke [_ _test history] (check history options))
  (invoke [_ _test history _opts] (check history options)))

(when (try (require 'jepsen.checker) true
           (catch java.io.FileNotFoundException _ false))
  (extend Checker @(resolve 'jepsen.checker/Checker)
          {:check (fn [checker _test history _opts] (check history (:options checker)))}))

(defn checker
  "The checker of a test. See the namespace for the options."
  ([] (checker {}))
  ([options] (->Checker options)))
