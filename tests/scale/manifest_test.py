#!/usr/bin/env python3
"""The manifest for Kubernetes (examples/scale/kubernetes.yaml), read strictly against the types of
the public API as Debian's python3-kubernetes has them, which are made from its OpenAPI schema: every
field is known, of its type, and what is required is there. A cluster is not needed. Also that the
job is indexed and that its shards are as many as its completions."""
import re
import sys

import yaml
from kubernetes import client


def wrong(place, text):
    sys.exit(f"{place}: {text}")


PLAIN = {"str": str, "int": int, "bool": bool, "float": (int, float)}


def check(value, kind, place):
    """`kind` as the models write it: str, V1Job, list[V1Container], dict(str, str)."""
    if kind == "object":
        return
    if kind in PLAIN:
        if not isinstance(value, PLAIN[kind]) or (kind == "int" and isinstance(value, bool)):
            wrong(place, f"found {value!r}, expected {kind}")
        return
    if kind.startswith("list["):
        if not isinstance(value, list):
            wrong(place, f"found {value!r}, expected a list")
        for i, one in enumerate(value):
            check(one, kind[5:-1], f"{place}[{i}]")
        return
    if kind.startswith("dict("):
        if not isinstance(value, dict):
            wrong(place, f"found {value!r}, expected an object")
        for name, one in value.items():
            check(one, kind[5:-1].split(", ")[1], f"{place}.{name}")
        return
    model = getattr(client, kind)
    if not isinstance(value, dict):
        wrong(place, f"found {value!r}, expected an object, {kind}")
    names = {json: name for name, json in model.attribute_map.items()}
    for json, one in value.items():
        if json not in names:
            wrong(f"{place}.{json}", f"is no field of {kind}")
        check(one, model.openapi_types[names[json]], f"{place}.{json}")
    try:
        model(**{names[json]: one for json, one in value.items()})  # what is required, and ranges
    except ValueError as error:
        wrong(place, str(error))


KINDS = {("v1", "ConfigMap"): "V1ConfigMap", ("batch/v1", "Job"): "V1Job",
         ("v1", "PersistentVolumeClaim"): "V1PersistentVolumeClaim"}


def check_manifest(text):
    jobs = []
    for number, document in enumerate(yaml.safe_load_all(text)):
        kind = KINDS.get((document.get("apiVersion"), document.get("kind")))
        if kind is None:
            wrong(f"document {number}", f"found {document.get('apiVersion')} {document.get('kind')}")
        check(document, kind, document["kind"])
        if document["kind"] == "Job":
            jobs.append(document["spec"])
    if len(jobs) != 1:
        wrong("manifest", f"found {len(jobs)} jobs, expected one")
    job = jobs[0]
    if job.get("completionMode") != "Indexed":
        wrong("Job.spec.completionMode", "expected Indexed: only then has a pod JOB_COMPLETION_INDEX")
    container = job["template"]["spec"]["containers"][0]
    shards = re.search(r"--shard auto/(\d+)", " ".join(container["args"]))
    if not shards or int(shards.group(1)) != job["completions"]:
        wrong("Job.spec.completions", "expected as many as --shard auto/N says")
    volumes = {volume["name"] for volume in job["template"]["spec"]["volumes"]}
    for mount in container["volumeMounts"]:
        if mount["name"] not in volumes:
            wrong("volumeMounts", f"{mount['name']} is no volume")


def is_refused(text):
    try:
        check_manifest(text)
    except SystemExit:
        return True
    return False


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        good = file.read()
    check_manifest(good)
    # One edit away from it.
    for before, after in [("completionMode", "completionmode"), ("completions: 8", "completions: 9"),
                          ("completions: 8", "completions: eight"), ("Indexed", "NonIndexed"),
                          ("      template", "      templates"), ("template:", "templates:"),
                          ("auto/8", "auto/4"), ("claimName: cupel-results", "claim: cupel-results"),
                          ("- name: results\n          persistent", "- name: result\n          persistent")]:
        if before in good and not is_refused(good.replace(before, after, 1)):
            wrong("test", f"a manifest with {after!r} instead of {before!r} was not refused")
    print("the manifest is well-formed")
