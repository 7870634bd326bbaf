#!/usr/bin/env bash
# Runs the required server scenarios of the protocol's conformance suite, of both
# revisions, through the gateway in front of examples/everything: conformance.sh has
# the suite. The last line is "N passed, N failed".
set -euo pipefail
cd "$(dirname "$0")"
exec env CONFORMANCE_GATEWAY=1 ./conformance.sh
