"""Makes the files of this folder: programs of every generation, written by the libraries of that time, with the outputs of
those libraries' own interpreters.

    for v in da4ml==0.2.1 da4ml==0.3.3 da4ml==0.5.2 da4ml==0.6.0 alkaid==0.7.1 alkaid==0.8.2; do
        python3 -m venv /opt/gen/$v && /opt/gen/$v/bin/pip install $v
    done
    python3 make.py [--venvs /opt/gen]

Each generation becomes a folder: NAME.json or NAME.json.gz (and NAME.bin, the byte code, where the library writes one), and
`golden.json` with inputs and outputs of each program. From 0.5 on the outputs are those of the C++ interpreter, checked
against the Python one where both take the inputs; before there is only the Python one.
"""

import argparse
import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
GENERATIONS = {
    's': 'da4ml==0.2.1',
    'dpre': 'da4ml==0.3.3',
    'd0': 'da4ml==0.5.2',
    'd1': 'da4ml==0.6.0',
    'a2': 'alkaid==0.7.1',
    'a4': 'alkaid==0.8.2',
}
AGE = list(GENERATIONS)


class Library:
    """What the generations call differently."""

    def __init__(self, generation: str):
        self.generation = generation
        self.age = AGE.index(generation)
        if generation.startswith('a'):
            from alkaid import types
        elif generation == 'd1':
            from da4ml import types
        else:
            from da4ml.cmvm import types
        self.types = types
        self.logic = getattr(types, 'CombLogic', None) or types.Solution

    def since(self, generation: str) -> bool:
        return self.age >= AGE.index(generation)

    def interval(self, low, high, step):
        return self.types.QInterval(float(low), float(high), float(step))

    def op(self, id0, id1, opcode, data, interval, latency=0.0, cost=0.0):
        """An operation in the layout of version 2; 0.8 has another, which says the same."""
        interval = self.interval(*interval)
        if not self.since('a4'):
            return self.types.Op(id0, id1, opcode, data, interval, latency, cost)
        low, high = data & 0xFFFFFFFF, data >> 32
        low -= (low >> 31) << 32
        addr, entries = {
            -2: ((id0,), ()),
            -1: ((), (id0,)),
            0: ((id0, id1), (low,)),
            1: ((id0, id1), (low,)),
            2: ((id0,), ()),
            3: ((id0,), (0,)),
            4: ((id0,), (low, high)),
            5: ((), (data,)),
            6: ((id0, id1, low), (high,)),
            7: ((id0, id1), ()),
            9: ((id0,), (data,)),
            10: ((id0, id1), (low, high >> 24)),
        }[opcode]
        return self.types.Op(addr, opcode, entries, interval, latency, cost)

    def program(self, n_in, outputs, ops, inp_shifts=None):
        """`outputs` are triples of index, shift, negated."""
        idxs, shifts, negs = ([o[k] for o in outputs] for k in range(3))
        fields = [(n_in, len(outputs)), inp_shifts or [0] * n_in, idxs, shifts, [bool(n) for n in negs], ops, 1, -1]
        return self.logic(*fields)

    def inputs(self, n):
        import numpy as np

        if self.since('a2'):
            from alkaid.trace import FVArrayInput

            return FVArrayInput(n)
        if self.since('d0'):
            from da4ml.trace import FixedVariableArrayInput

            return FixedVariableArrayInput(n)
        from da4ml.trace import FixedVariableArray, HWConfig

        ones = np.ones(n, dtype=int)
        return FixedVariableArray.from_kif(ones, 3 * ones, 2 * ones, HWConfig(1, -1, -1))

    def typed(self, x):
        """The inputs as s1.3.2: before 0.5 they are made with their type."""
        import numpy as np

        if not self.since('d0'):
            return x
        ones = np.ones(len(x), dtype=int)
        return x.quantize(ones, 3 * ones, 2 * ones)

    def trace(self, x, y):
        if self.since('a2'):
            from alkaid.trace import trace

            return trace(x, y)
        from da4ml.trace import comb_trace

        return comb_trace(x, y)


# Intervals used below.
A = (-8, 7, 1)
B = (0, 7.5, 0.5)


def by_hand(lib):
    """Programs assembled record by record: every opcode of the generation."""
    op, old = lib.op, not lib.since('a2')
    i = lambda k, interval: op(k, -1, -1, 0, interval)
    const = (lambda units, shift: units) if old else (lambda units, shift: (shift << 32) | (units & 0xFFFFFFFF))
    yield 'arithmetic', lib.program(
        2,
        [(2, 0, 0), (3, 0, 0), (4, 0, 0), (5, -2, 0), (6, 3, 0), (-1, 0, 0)],
        [
            i(0, A),
            i(1, B),
            op(0, 1, 0, -1, (-8, 10.75, 0.25), 1.0, 5.0),
            op(0, 1, 1, 1, (-23, 7, 1), 1.0, 5.0),
            op(0, 0, 0, 3, (-72, 63, 1), 1.0, 5.0),
            op(2, 3, 1, 0, (-15, 33.75, 0.25), 2.0, 6.0),
            op(1, 1, 1, 0, (-7.5, 7.5, 0.5), 2.0, 6.0),
        ],
    )
    yield 'quantise', lib.program(
        2,
        [(k, 0, 0) for k in range(2, 8)],
        [
            i(0, (-8, 7.75, 0.25)),
            i(1, (-4, 3.5, 0.5)),
            op(0, -1, 2, 0, (0, 7.5, 0.5), 1.0, 4.0),
            op(0, -1, 2, 0, (0, 1.5, 0.5), 1.0, 4.0),
            op(0, -1, 3, 0, (-2, 1.5, 0.5), 1.0),
            op(0, -1, 3, 0, (0, 7, 1), 1.0),
            op(0, 1, 0, 0, (-12, 11.25, 0.25), 1.0, 5.0),
            op(6, -1, 3, 0, (-4, 3.5, 0.5), 1.0),
        ],
    )
    yield 'constants', lib.program(
        2,
        [(k, 0, 0) for k in range(2, 8)],
        [
            i(0, A),
            i(1, B),
            op(0, -1, 4, const(-3, 0), (-11, 4, 1), 1.0, 4.0),
            op(1, -1, 4, const(5, 1), (2.5, 10, 0.5), 1.0, 4.0),
            op(0, -1, 4, const(9, 2), (-5.75, 9.25, 0.25), 1.0, 4.0),
            op(-1, -1, 5, 13, (3.25, 3.25, 0.25)),
            op(-1, -1, 5, -7, (-3.5, -3.5, 0.5)),
            op(0, 5, 1, 0, (-11.25, 3.75, 0.25), 1.0, 4.0),
        ],
    )
    yield 'outputs', lib.program(
        2,
        [(0, 0, 1), (1, 2, 1), (2, -3, 0), (2, 1, 1), (-1, 0, 0), (2, 0, 0)],
        [i(0, A), i(1, B), op(0, 1, 0, 0, (-8, 14.5, 0.5), 1.0, 5.0)],
    )
    if old:
        yield 'negating', lib.program(
            2,
            [(k, 0, 0) for k in range(2, 8)],
            [
                i(0, A),
                i(1, (-4, 3.75, 0.25)),
                op(0, -1, -2, 0, (0, 8, 1), 1.0, 4.0),
                op(0, -1, -2, 0, (0, 3, 1), 1.0, 4.0),
                op(1, -1, -2, 0, (0, 4, 0.5), 1.0, 4.0),
                op(0, -1, -3, 0, (-7, 8, 1), 1.0),
                op(1, -1, -3, 0, (-2, 1.5, 0.5), 1.0),
                op(6, -1, -3, 0, (-2, 1.5, 0.5), 1.0),
            ],
        )
    else:
        yield 'negating', lib.program(
            2,
            [(k, 0, 0) for k in range(2, 5)],
            [
                i(0, A),
                i(1, (-4, 3.75, 0.25)),
                op(0, -1, -2, 0, (-7, 8, 1), 1.0, 4.0),
                op(1, -1, -2, 0, (-3.75, 4, 0.25), 1.0, 4.0),
                op(3, -1, 2, 0, (0, 4, 0.5), 1.0, 4.0),
            ],
        )
    if lib.since('dpre'):
        mux = lambda cond, shift: (shift << 32) | cond
        ops = [
            i(0, A),
            i(1, (-4, 3.5, 0.5)),
            i(2, (-2, 1, 1)),
            op(0, 1, 6, mux(2, 0), (-8, 7, 0.5), 1.0, 4.0),
            op(0, 1, 6, mux(2, 1), (-8, 7, 1), 1.0, 4.0),
            op(1, 1, 6, mux(0, 0), (-4, 3.5, 0.5), 1.0, 4.0),
        ]
        if old:
            ops.append(op(0, 1, -6, mux(2, 0), (-8, 7, 0.5), 1.0, 4.0))
            ops.append(op(0, 1, -6, mux(2, 1), (-8, 8, 1), 1.0, 4.0))
        yield 'mux', lib.program(3, [(k, 0, 0) for k in range(3, len(ops))], ops)
        yield 'multiply', lib.program(
            2,
            [(2, 0, 0), (3, 0, 0), (4, 0, 0)],
            [
                i(0, A),
                i(1, (-4, 3.5, 0.5)),
                op(0, 1, 7, 0, (-28, 32, 0.5), 2.0, 16.0),
                op(0, 0, 7, 0, (-56, 64, 1), 2.0, 16.0),
                op(2, 1, 7, 0, (-128, 112, 0.25), 3.0, 30.0),
            ],
        )
    if lib.since('d1'):
        bits = lambda shift, sub, flags=0: (sub << 56) | (flags << 32) | (shift & 0xFFFFFFFF)
        ops = [
            i(0, A),
            i(1, (0, 15, 1)),
            op(0, -1, 9, 0, A, 1.0, 1.0),
            op(1, -1, 9, 0, (0, 15, 1), 1.0, 1.0),
            op(0, -1, 9, 1, (0, 1, 1), 1.0, 1.0),
            op(1, -1, 9, 2, (0, 1, 1), 1.0, 1.0),
            op(0, 1, 10, bits(0, 0), (0, 15, 1), 1.0, 1.0),
            op(0, 1, 10, bits(1, 1), (-8, 31, 1), 1.0, 1.0),
            op(1, 0, 10, bits(0, 2), (-16, 15, 1), 1.0, 1.0),
        ]
        if old:
            ops += [
                op(0, -1, -9, 0, (-9, 7, 1), 1.0, 1.0),
                op(1, -1, -9, 1, (0, 1, 1), 1.0, 1.0),
                op(0, -1, -9, 2, (0, 1, 1), 1.0, 1.0),
                op(1, 0, 10, bits(0, 0, 1), (-16, 15, 1), 1.0, 1.0),
                op(1, 0, 10, bits(0, 1, 2), (-16, 15, 1), 1.0, 1.0),
                op(1, 0, 10, bits(0, 2, 3), (-16, 15, 1), 1.0, 1.0),
            ]
        yield 'bits', lib.program(2, [(k, 0, 0) for k in range(2, len(ops))], ops)


def traced(lib):
    """Programs that the library's tracer and solver make."""
    import numpy as np

    rng = np.random.default_rng(7)
    x = lib.inputs(6)
    t = lib.typed(x)
    kernel = rng.integers(-15, 16, (6, 4)) / 4.0
    one = np.ones(4, dtype=int)
    yield 'dense', lib.trace(x, t @ kernel)
    x = lib.inputs(6)
    t = lib.typed(x)
    y = (t @ kernel).relu(3 * one, 2 * one)
    yield 'layers', lib.trace(x, y @ (rng.integers(-7, 8, (4, 3)) / 2.0) + 0.75)
    if lib.since('d0'):
        x = lib.inputs(6)
        t = lib.typed(x)
        yield 'select', lib.trace(x, np.stack([np.maximum(t[:3], t[3:]), np.minimum(t[:3], -t[3:])]).reshape(-1))
    if lib.since('d0'):
        x = lib.inputs(3)
        t = lib.typed(x)
        ones = np.ones(3, dtype=int)
        y = t.apply(np.tanh).quantize(ones, ones, 4 * ones)
        yield 'tables', lib.trace(x, y)


def pipelines(lib):
    """Files of the class that holds several stages."""
    import numpy as np

    kernel = np.random.default_rng(9).integers(-7, 8, (5, 4)).astype(np.float32)
    if lib.generation in ('s', 'dpre', 'd0'):
        from da4ml.cmvm import solve
    elif lib.generation == 'd1':
        from da4ml.cmvm import solve
    else:
        return
    yield 'solved', solve(kernel, decompose_dc=1, method0='wmc')


def sample_rows(n_in, low, high, seed):
    import numpy as np

    rng = np.random.default_rng(seed)
    corners = [[low] * n_in, [high] * n_in, [0.0] * n_in, [-0.25] * n_in, [0.5] * n_in]
    rows = np.concatenate([np.array(corners), rng.integers(low * 4, high * 4 + 1, (27, n_in)) / 4.0])
    return rows.astype(np.float64)


def child(generation: str, folder: Path):
    import numpy as np

    lib = Library(generation)
    golden = {}
    folder.mkdir(parents=True, exist_ok=True)

    def run(program, rows):
        def python(row):
            return [float(v) for v in program(row, quantize=True)]

        if not hasattr(program, 'predict'):
            return np.array([python(row) for row in rows])
        return np.asarray(program.predict(rows), dtype=np.float64)

    programs = [*by_hand(lib), *traced(lib), *pipelines(lib)]
    for seed, (name, program) in enumerate(programs):
        staged = name == 'solved'
        n_in = program.shape[0] if not staged else program[0][0].shape[0]
        # Tracer and hand-made programs have inputs within -8 to 7.75; what lies beyond wraps. The tables' and the
        # solver's inputs stay inside.
        inside = name in ('tables', 'solved')
        rows = sample_rows(n_in, -8.0 if inside else -12.0, 7.75 if inside else 12.0, seed)
        if staged:
            stages = program[0]
            rows = np.floor(rows)
            out = rows
            for stage in stages:
                out = run(stage, out)
        else:
            out = run(program, rows)
        packed = generation.startswith('a')
        path = folder / (name + ('.json.gz' if packed else '.json'))
        program.save(path)
        if packed:
            # Without the time that gzip puts into its header.
            path.write_bytes(gzip.compress(gzip.decompress(path.read_bytes()), mtime=0))
            code = program.to_bytecode()
            (folder / f'{name}.bin').write_bytes(code if isinstance(code, bytes) else np.asarray(code, '<i4').tobytes())
        elif hasattr(program, 'save_binary'):
            program.save_binary(folder / f'{name}.bin')
        golden[name] = {'inputs': rows.tolist(), 'outputs': np.asarray(out).tolist()}
    lines = ',\n'.join(f' {json.dumps(name)}: {json.dumps(values)}' for name, values in golden.items())
    (folder / 'golden.json').write_text('{\n' + lines + '\n}\n')
    print(generation, len(golden), 'programs')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--venvs', type=Path, default=Path('/opt/gen'))
    parser.add_argument('--child', help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        child(args.child, HERE / args.child)
        return
    for generation, version in GENERATIONS.items():
        python = args.venvs / version / 'bin/python'
        # Compiling quickly matters more here than what is compiled.
        environment = {**os.environ, 'NUMBA_OPT': '0'}
        subprocess.run([python, __file__, '--child', generation], check=True, env=environment)


if __name__ == '__main__':
    main()
