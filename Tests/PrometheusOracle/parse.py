"""Reads metrics with the parsers of Python's prometheus_client.

Usage: parse.py prometheus|openmetrics

Reads an exposition from stdin. Prints a line for each sample, as JSON: the family's name, type and
unit, the sample's name, its labels sorted by name, its value as Python writes a float, and the labels
and value of its exemplar or null. Fails with the parser's error for text that is not valid.
"""

import json
import sys

from prometheus_client import parser as prometheus
from prometheus_client.openmetrics import parser as openmetrics


def main(arguments):
    text = sys.stdin.buffer.read().decode("utf-8")
    parser = {"prometheus": prometheus, "openmetrics": openmetrics}[arguments[0]]
    for family in parser.text_string_to_metric_families(text):
        for sample in family.samples:
            exemplar = sample.exemplar and [
                sorted(sample.exemplar.labels.items()), repr(float(sample.exemplar.value))]
            print(json.dumps([
                family.name, family.type, family.unit, family.documentation, sample.name,
                sorted(sample.labels.items()), repr(float(sample.value)), exemplar]))


if __name__ == "__main__":
    main(sys.argv[1:])
