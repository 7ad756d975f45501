#!/usr/bin/env python3
"""What computing a value twice could save in register bits, at two stages and alkaid's stage delay.

    target/peer/bin/python benches/peer/copies.py MODEL...

For the program that alkaid's `RTLModel` schedules in two stages: the fewest bits between the stages where each operation stands in one
stage, and where an operation may stand in both. Both are minimum cuts of the program by whole values (E. Dinic's algorithm). A value may be
held if it arrives within the stage delay; an operation may stand behind the cut if it and all that follows it take no longer than the
stage delay. Without copies an operation before the cut has its operands before the cut (edges back of infinite capacity); with copies it
need not, since what stands behind the cut can be computed once more before it. Bits of the input and output registers are added to both.
Not looked at: an operation behind the cut for its short readers alone, whose long readers have a copy before it.
"""

import json
import math
import sys
import tempfile
from collections import deque
from pathlib import Path

import registers

INFINITE = 1 << 40


def width(interval):
    low, high, step = interval
    return 0 if low == high == 0 else max(0, math.ceil(math.log2(max(high + step, -low, step) / step))) + (low < 0)


class Network:
    """Minimum cut by blocking flows."""

    def __init__(self, nodes):
        self.edges = [[] for _ in range(nodes)]

    def add(self, x, y, capacity):
        self.edges[x].append([y, capacity, len(self.edges[y])])
        self.edges[y].append([x, 0, len(self.edges[x]) - 1])

    def cut(self, source, sink):
        total = 0
        while True:
            level = {source: 0}
            queue = deque([source])
            while queue:
                x = queue.popleft()
                for y, capacity, _ in self.edges[x]:
                    if capacity and y not in level:
                        level[y] = level[x] + 1
                        queue.append(y)
            if sink not in level:
                return total
            at = [0] * len(self.edges)
            path = []
            x = source
            while True:
                if x == sink:
                    pushed = min(edge[1] for edge in path)
                    total += pushed
                    for edge in path:
                        edge[1] -= pushed
                        self.edges[edge[0]][edge[2]][1] += pushed
                    path, x = [], source
                    continue
                while at[x] < len(self.edges[x]):
                    edge = self.edges[x][at[x]]
                    if edge[1] and level.get(edge[0]) == level[x] + 1:
                        break
                    at[x] += 1
                else:
                    if not path:
                        break
                    x = self.edges[path[-1][0]][path[-1][2]][0]
                    path.pop()
                    at[x] += 1
                    continue
                path.append(edge)
                x = edge[0]


def bits(ops, outputs, delay, copies):
    n = len(ops)
    reads = [[] if op[1] == -1 else sorted(set(op[0])) for op in ops]
    own = registers.own_delays(ops)
    arrival, after, needed = [0.0] * n, [0.0] * n, [False] * n
    for v in range(n):
        arrival[v] = own[v] + max((arrival[u] for u in reads[v]), default=0.0)
    for v in outputs:
        needed[v] = True
    for v in range(n - 1, -1, -1):
        for u in reads[v] if needed[v] else []:
            needed[u] = True
            after[u] = max(after[u], after[v] + own[v])
    source, sink, slack = 2 * n, 2 * n + 1, delay + 1e-9
    network = Network(2 * n + 2)
    for v in filter(needed.__getitem__, range(n)):
        may_be_held = arrival[v] <= slack
        network.add(2 * v, 2 * v + 1, INFINITE if not may_be_held else 0 if ops[v][1] == 5 else width(ops[v][3]))
        if ops[v][1] == -1 or after[v] + own[v] > slack:
            network.add(source, 2 * v, INFINITE)
        if v in outputs or not copies and arrival[v] > slack:
            network.add(2 * v + (v in outputs), sink, INFINITE)
        for u in reads[v]:
            network.add(2 * u + 1, 2 * v, INFINITE)
            if not copies:
                network.add(2 * v, 2 * u, INFINITE)
    return network.cut(source, sink)


def main():
    print('| model | stage delay | alkaid bits | an operation in one stage | an operation in both |\n|---|---|---|---|---|')
    for model in sys.argv[1:]:
        with tempfile.TemporaryDirectory() as folder:
            said = registers.run(sys.executable, registers.__file__, '--child', model, '2', folder)
            file = registers.load(Path(folder) / 'model/comb.json.gz')
            delay = registers.stage_delay(registers.load(Path(folder) / 'model/fsm.json.gz'))
        program = file['model']
        ops, outputs = program[5], [v for v in program[2] if v >= 0]
        ports = sum(width(op[3]) for op in ops if op[1] == -1) + sum(width(ops[v][3]) for v in outputs)
        found = [bits(ops, set(outputs), delay, copies) + ports for copies in (False, True)]
        theirs = json.loads(said.splitlines()[-1])['bits']
        print(f'| {registers.name_of(Path(model))} | {delay:.3f} | {theirs} | {found[0]} | {found[1]} |', flush=True)


if __name__ == '__main__':
    main()
