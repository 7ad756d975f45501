"""Arrays of every dtype and layout through `Model.predict`, against the integers that the program stands for."""

import os
import pickle
import signal
import threading
import time

import numpy as np

import alir2hdl
from alir2hdl import InputError, Model


def refused(call, *words):
    try:
        call()
    except InputError as error:
        assert all(word in str(error) for word in words), error
        return error
    raise AssertionError(f"{words} is not refused")


# Two inputs of 10 bits, 3 of them fractional; y = (a + 2 b, 3 a - b), which is exact in floor and wrap of the inputs.
W = np.array([[1, 3], [2, -1]])
model = Model.from_matrix(W, "s10.3")


def wrapped(codes, bits):
    return (codes + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1)


def expected(x):
    codes = np.array([[wrapped(int(np.floor(v * 8)) if not isinstance(v, int) else v * 8, 10) for v in row]
                      for row in x.tolist()], dtype=np.int64).reshape(-1, 2)
    return codes @ W / 8


rng = np.random.default_rng(5)
for rows in (0, 1, 3, 1000):
    for dtype in ("f8", "f4", "f2", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", ">f8", ">i4", ">f4", "?", "O", "g"):
        kind = np.dtype(dtype).kind
        if dtype == "O":
            x = np.array([[int(v) for v in row] for row in rng.integers(-2**62, 2**62, (rows, 2))], dtype=object).reshape(rows, 2)
        elif kind in "iu":
            facts = np.iinfo(dtype)
            x = rng.integers(facts.min, facts.max, (rows, 2), dtype=np.dtype(dtype).newbyteorder("="), endpoint=True).astype(dtype)
        else:
            x = rng.uniform(-300, 300, (rows, 2)).astype(dtype)
        reference = expected(x)
        layouts = [x, np.asfortranarray(x), np.repeat(x, 2, axis=0)[::2], np.hstack([x, x])[:, 1:3][:, ::-1], x[::-1][::-1]]
        fixed = x.copy()
        fixed.flags.writeable = False
        layouts.append(fixed)
        if dtype != "O":
            # As a file with a header of one byte maps it.
            unaligned = np.ndarray(x.shape, x.dtype, bytearray(x.nbytes + 1), 1)
            unaligned[...] = x
            layouts.append(unaligned)
        for threads in (1, 2, None):
            for one in layouts:
                before = one.copy()
                y = model.predict(one, threads=threads)
                assert y.dtype == np.float64 and y.shape == (rows, 2), (dtype, y)
                assert np.array_equal(y, reference), (rows, dtype, threads)
                assert np.array_equal(one, before)
        if rows:
            assert np.array_equal(model.predict(x[0]), reference[0])

# Results into arrays that are given: contiguous, strided, the input itself.
x = rng.uniform(-50, 50, (1000, 2))
reference = expected(x)
out = np.empty((1000, 2))
assert model.predict(x, out=out) is out and np.array_equal(out, reference)
strided = np.zeros((1000, 4))[:, ::2]
assert model.predict(x, out=strided) is strided and np.array_equal(strided, reference)
same = x.copy()
assert np.array_equal(model.predict(same, out=same), reference)
refused(lambda: model.predict(x, out=np.empty((999, 2))), "out")
refused(lambda: model.predict(x, out=np.empty((1000, 2), np.float32)), "float64")
refused(lambda: model.predict(x, threads=0), "threads")
refused(lambda: model.predict(x.astype(complex)), "complex128")
refused(lambda: model.predict([["a", "b"]]), "<U1")
x[700, 1] = np.nan
for threads in (1, 2):
    refused(lambda: model.predict(x, threads=threads), "sample 700", "input 1", "NaN")

# Raw integer values: exact, and only of the port's type.
codes = rng.integers(-512, 512, (100, 2), dtype=np.int16)
y = model.predict(codes, codes=True)
assert y.dtype == np.int64 and np.array_equal(y, codes.astype(int) @ W)
assert np.array_equal(model.predict(codes / 8), y / 8)
refused(lambda: model.predict([[512, 0]], codes=True), "sample 0", "512", "-512 to 511")
refused(lambda: model.predict([[0.5, 0]], codes=True), "integers")

# Beyond 2^53: integers never pass through float64; what float64 cannot hold is an error that names the element.
wide = Model.from_matrix([[1]], "s64.0")
big = np.array([[2**60 + 1], [-(2**62) - 1], [2**53 + 1]], dtype=np.int64)
assert wide.predict(big, codes=True).tolist() == big.tolist()
assert wide.predict([[2**60 + 1]], codes=True).tolist() == [[2**60 + 1]]
assert wide.predict(np.array([[2**60]])).tolist() == [[2.0**60]]
error = refused(lambda: wide.predict(np.array([[1], [2**53 + 1]])), "sample 1", "output 0", str(2**53 + 1), "codes=True")
assert error.code == "E0706" and "codes=True" in error.help
pair = Model.from_matrix(np.eye(2, dtype=int), "s64.0")
assert pair.predict([[2**53 + 1, 0.5]] if False else [[2**53 + 2, 0.5]]).tolist() == [[2.0**53 + 2, 0.0]]
refused(lambda: pair.predict([[2**53 + 1, 0.5]]), str(2**53 + 1))
unsigned = Model.from_matrix([[1]], "u64.0")
top = unsigned.predict(np.array([[2**64 - 1]], np.uint64), codes=True)
assert top.dtype == np.uint64 and top.tolist() == [[2**64 - 1]]
huge = Model.from_matrix([[1]], "s100.0")
found = huge.predict([[-(2**98) - 1], [2**99 - 1]], codes=True)
assert found.dtype == object and found.tolist() == [[-(2**98) - 1], [2**99 - 1]]
into = np.empty((1, 1), object)
assert huge.predict([[2**80 + 1]], codes=True, out=into) is into and into[0, 0] == 2**80 + 1
assert huge.predict([[2.0**90]]).tolist() == [[2.0**90]]

kernel = Model.from_bytes('llvlir 0\nin %0 "a": i64\nin %1 "b": i64\n%2 = add.i64 %0, %1\nout "c" = %2\n')
assert kernel.predict([[2**62 + 1, 2**61]], codes=True).tolist() == [[2**62 + 1 + 2**61]]
refused(lambda: kernel.predict([[1, 2]]), "64 bits", "codes=True")

# From several Python threads, and after a fork.
x = rng.uniform(-50, 50, (50_000, 2))
reference = model.predict(x)
wrong = []
workers = [threading.Thread(target=lambda: wrong.append(not np.array_equal(model.predict(x), reference))) for _ in range(8)]
[worker.start() for worker in workers], [worker.join() for worker in workers]
assert wrong == [False] * 8
child = os.fork()
if child == 0:
    os._exit(0 if np.array_equal(model.predict(x, threads=2), reference) else 1)
assert os.waitpid(child, 0)[1] == 0

# Ctrl-C ends a long run at once.
long = np.zeros((400_000, 2), np.int64)
long[:] = 2**60
slow = Model.from_matrix(np.array([[1, 3], [2, -1]]), "s100.3")
threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
start = time.monotonic()
try:
    for _ in range(100):
        slow.predict(long)
    raise AssertionError("not interrupted")
except KeyboardInterrupt:
    assert time.monotonic() - start < 1.5, time.monotonic() - start

assert pickle.loads(pickle.dumps(error)).code == "E0706"
# `out` of any layout, alignment and byte order.
x = rng.uniform(-30, 30, (5, 2))
for out in (np.ndarray((5, 2), float, bytearray(81), 1), np.empty((5, 2), ">f8"), np.empty((2, 5)).T):
    assert model.predict(x, out=out) is out and np.array_equal(out, expected(x)), out.dtype
sample = np.ndarray((2,), float, bytearray(17), 1)
sample[...] = x[0]
assert model.trace(sample) == model.trace(x[0])

# What is no array of numbers is an InputError with a short message.
refused(lambda: model.predict([[1, 2], [1]]), "different lengths")
refused(lambda: model.predict(np.ma.masked_array([[1.0, 2.0]], mask=[[True, False]])), "filled")
assert np.array_equal(model.predict(np.ma.masked_array([[1.0, 2.0]])), model.predict([[1.0, 2.0]]))
refused(lambda: model.predict(3.0), "shape ()")
assert len(str(refused(lambda: model.predict({"a": np.zeros(1000)}), "number 0"))) < 200
assert np.array_equal(model.predict(x, threads=2**70), expected(x))

# Ctrl-C ends the search for adders.
timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
timer.start()
begun = time.monotonic()
try:
    alir2hdl.cmvm(rng.integers(-127, 127, (16, 16)), "s8.0", budget=20000)
except KeyboardInterrupt:
    assert time.monotonic() - begun < 3
else:
    raise AssertionError("Ctrl-C is ignored")

print("ARRAYS", alir2hdl.__version__)
