"""Files that we convert, in the library's own interpreter: JSON and byte code of the version that it takes.

    python forms.py [--binary target/release/alir2hdl] MODEL_FOLDER...

Runs in a venv with alkaid 0.8.2 (version 4) or 0.7.1 (version 2): the installed library decides. Each MODEL_FOLDER holds a
model file, `inputs.npy` and `outputs.npy`. Every model is loaded in a process of its own, so that a crash of the library is one
line of the report. Programs that the library refuses or computes otherwise are listed; the exit code is 1 if there are any
beyond those of `--expect NAME,NAME`.
"""

import argparse
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# 0.7.1 crashes at random on small programs, on files and words of its own too; what it says when it does not is compared.
TRIES = 12
FORMS = {'0.7': ('alir2', 'bytecode2'), '0.8': ('alir4', 'bytecode4')}


def model_file(folder: Path) -> Path | None:
    names = ['model.sum3.json.gz', 'model.json.gz', 'model.json', 'model.bin']
    return next((folder / name for name in names if (folder / name).exists()), None)


def child(form: str, path: str, folder: Path) -> None:
    """Runs the library on one file and says how many values differ."""
    import numpy as np
    from alkaid.types import CombLogic, alir_interp_run

    inputs = np.load(folder / 'inputs.npy')[:2000]
    wanted = np.load(folder / 'outputs.npy')[:2000]
    if form.startswith('alir'):
        found = CombLogic.load(path).predict(inputs)
    else:
        raw = Path(path).read_bytes()
        # 0.7 wants words that it could write, and the number of threads.
        words = form == 'bytecode2'
        found = alir_interp_run(np.frombuffer(raw, '<i4').copy(), inputs, 1) if words else alir_interp_run(raw, inputs)
    found = np.asarray(found).reshape(wanted.shape)
    print(f'{int((found != wanted).sum())} of {wanted.size} values differ')
    sys.exit(int((found != wanted).any()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('folders', nargs='*', type=Path)
    parser.add_argument('--binary', type=Path, default=ROOT / 'target/release/alir2hdl')
    parser.add_argument('--expect', default='', help='names that may differ')
    parser.add_argument('--child', nargs=3, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        child(args.child[0], args.child[1], Path(args.child[2]))
        return
    library = version('alkaid')
    equal, other, crashes = 0, [], 0
    with tempfile.TemporaryDirectory() as scratch:
        for folder in args.folders:
            if model_file(folder) is None:
                parser.error(f'{folder} holds no model')
            for form in FORMS[library[:3]]:
                name = f'{folder.parent.name}/{folder.name}' if folder.name.isdigit() else folder.name
                path = Path(scratch) / ('model.json' if form.startswith('alir') else 'model.bin')
                convert = [args.binary, 'convert', model_file(folder), path, '--to', form]
                done = subprocess.run(convert, capture_output=True, text=True)
                if done.returncode != 0:
                    other.append((name, f'{name} {form}: we refuse: {done.stderr.strip().splitlines()[0]}'))
                    continue
                run = [sys.executable, __file__, '--child', form, str(path), str(folder)]
                for _ in range(TRIES):
                    done = subprocess.run(run, capture_output=True, text=True)
                    if done.returncode >= 0:
                        break
                    crashes += 1
                if done.returncode == 0:
                    equal += 1
                    continue
                said = (done.stdout.strip() or done.stderr.strip() or f'signal {-done.returncode}').splitlines()[-1]
                other.append((name, f'{name} {form}: {said}'))
    print(f'alkaid {library}: {equal} equal, {len(other)} not; {crashes} crashes of the library')
    for _, line in other:
        print('  ' + line)
    expected = set(args.expect.split(','))
    sys.exit(int(any(name not in expected for name, _ in other)))


if __name__ == '__main__':
    main()
