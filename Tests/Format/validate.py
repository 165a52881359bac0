#!/usr/bin/env python3
"""Checks lines of changes with the JSON Schema of the article “The JSON of changes”.

Usage: validate.py <LINES
Prints what is wrong, and then exits with 1. Every member must be one that the schema names, which readers do not require.
"""

import json
import pathlib
import re
import sys

import jsonschema

ARTICLE = pathlib.Path(__file__).parents[2] / "Sources/UserStore/UserStore.docc/Reference/Format.md"
SCHEMA = json.loads(re.search(r"^```json\n(\{\n.*?\n\})\n```$", ARTICLE.read_text(), re.M | re.S)[1])


def mistakes(lines):
    """What is wrong with lines; yields texts."""
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    validator = jsonschema.Draft202012Validator(SCHEMA)
    revision = None
    for number, line in enumerate(lines, 1):
        value = json.loads(line)
        for error in validator.iter_errors(value):
            yield f"line {number}: {error.message}: {line}"
        if unknown := set(value) - set(SCHEMA["properties"]):
            yield f"line {number}: the schema does not name {unknown}: {line}"
        # Only the last line of a set has a cursor, and the sets are in order.
        if "revision" in value and value["revision"] is not None:
            if revision is not None and value["revision"] < revision:
                yield f"line {number}: revision {value['revision']} after {revision}"
            revision = value["revision"]


if __name__ == "__main__":
    found = list(mistakes(line for line in sys.stdin if line.strip()))
    print("\n".join(found))
    sys.exit(1 if found else 0)
