cd /work/wt/reports; M=tests/data/models
mj() { echo $M/$1/model.json.gz; }
C=()
for m in tiny_ops sort_topk edge_kif bit_logic; do
 C+=(--case "$m=$(mj $m),-O1,--pipeline,3,--reset,sync,--reset-data,--enable,--valid")
 C+=(--case "$m=$(mj $m),-O2,--pipeline,3,--reset,async,--reset-polarity,low,--reset-data,--valid")
 C+=(--case "$m=$(mj $m),-O1,--pipeline,3,--enable,--valid,--reset,sync,--split-above,20,+h")
 C+=(--case "$m=$(mj $m),-O2,--ii,4")
 C+=(--case "$m=$(mj $m),-O1,--ii,4,--valid,--reset,sync,--enable")
done
C+=(--case "edge_kif=$(mj edge_kif),-O1,--pipeline,3,--reset,async,--valid,--enable")
C+=(--case "lut_heavy=$(mj lut_heavy),-O1,--pipeline,3,--rom-style,block")
C+=(--case "perceptron=examples/perceptron.onnx,-O1,--pipeline,3,--rom-style,block,--valid,--enable")
C+=(--case "var_mul=$(mj var_mul),-O1,--pipeline,3,--use-dsp,yes")
C+=(--case "var_mul=$(mj var_mul),-O1,--use-dsp,yes")
C+=(--case "var_mul=$(mj var_mul),-O1,--pipeline,4,--use-dsp,yes,--reset,sync,--reset-data,--enable")
C+=(--case "tiny_ops=$(mj tiny_ops),-O1,--pipeline,3,--use-dsp,yes,--enable")
mkdir -p /tmp/n22/keep2
benches/netlist/table.py /tmp/n22/dbg ${YOSYS:-yosys} "${C[@]}" --jobs 2 --keep /tmp/n22/keep2 --synthesis 100 "$@"
