#!/bin/sh
# Takes the screenshots of page 3 with alir2hdl (or $ALIR2HDL) and Chromium. The commands on the pages create the other pictures.
set -eu
cd "$(dirname "$0")"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
"${ALIR2HDL:-alir2hdl}" view ../../../examples/softmax_tables/softmax.json.gz --pipeline 4 --device xcvu13p -o "$out/page.html" --quiet
shoot() { # FILE SIZE ADDRESS
    chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size="$2" --screenshot="$out/$1" "file://$out/page.html$3" 2>/dev/null
    mv "$out/$1" "$1"
}
shoot page.png 1200,640 ""
shoot page_operation.png 1200,700 "#op=34"
