#!/usr/bin/env python3
"""Which proofs `alir2hdl-check` can replay, and how long it takes beside the proof.

    benches/proof/certificates.py FOLDER... [--levels 0 1 2] [--stages 0 3] [--programs target/quick] [--seconds 120]

Each model.json.gz below the folders becomes a text at each level and number of stages, is proved with --certificate, and the
certificate is replayed. Times are processor time (user and system), and so is the limit. The proof's time is that of a run
without --certificate.
"""
import argparse
import pathlib
import re
import resource
import subprocess
import tempfile


def run(seconds, *words):
    """Exit code (None after that many processor seconds), what was said, processor seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    limit = lambda: resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds)))
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, preexec_fn=limit)
    code, said = (done.returncode, done.stdout + done.stderr) if done.returncode >= 0 else (None, "stopped after the time")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return code, said, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    parser.add_argument("--levels", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--stages", nargs="+", type=int, default=[0, 3])
    parser.add_argument("--programs", type=pathlib.Path, default=pathlib.Path("target/quick"))
    parser.add_argument("--seconds", type=float, default=120, help="processor seconds of a run")
    parser.add_argument("--vhdl", action="store_true", help="VHDL instead of Verilog")
    parser.add_argument("--options", default="", help="further options of the text, such as '--enable --ports split'")
    args = parser.parse_args()
    prover, checker = args.programs / "alir2hdl", args.programs / "alir2hdl-check"
    print("| model | level | stages | proof, s | with records, s | replay, s | verdict | replay | bytes |")
    print("|---|---|---|---|---|---|---|---|---|")
    whole = proved = 0
    for model in sorted(m for folder in args.folders for m in folder.rglob("model.json.gz")):
        for level in args.levels:
            for stages in args.stages:
                with tempfile.TemporaryDirectory() as folder:
                    text, proof = pathlib.Path(folder) / ("m.vhd" if args.vhdl else "m.v"), pathlib.Path(folder) / "proof"
                    language = "--vhdl" if args.vhdl else "--verilog"
                    code, said, _ = run(
                        args.seconds, prover, model, language, text, f"-O{level}", "--pipeline", stages, "-q", *args.options.split()
                    )
                    if code != 0:
                        print(f"| {model.parent.name} | {level} | {stages} | | | | not written | | |", flush=True)
                        continue
                    code, said, plain = run(args.seconds, prover, "prove", model, text)
                    verdict = said.split(":")[0]
                    code, said, recorded = run(args.seconds, prover, "prove", model, text, "--certificate", proof)
                    answer, replay, size = "", float("nan"), 0
                    if (proof / "proof.txt").exists():
                        size = (proof / "proof.txt").stat().st_size
                        code, said, replay = run(args.seconds, checker, model, text, proof)
                        answer = re.sub(r"\s+", " ", said).strip()
                        whole += code == 0
                    else:
                        found = re.search(r"no proof.txt for alir2hdl-check: (.*)", said)
                        answer = found[1] if found else "none"
                    proved += verdict == "proved"
                    print(
                        f"| {model.parent.name} | {level} | {stages} | {plain:.2f} | {recorded:.2f} | {replay:.2f} "
                        f"| {verdict} | {answer} | {size} |",
                        flush=True,
                    )
    print(f"\n{whole} of {proved} proofs replayed in full")


main()
