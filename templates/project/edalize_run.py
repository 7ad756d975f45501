"""Runs {{ v.top }} through Edalize (PyPI: edalize):

    python scripts/edalize_run.py icarus        simulates; so does ghdl
    python scripts/edalize_run.py yosys         synthesises; so do vivado and quartus, where they were asked for

Results are in build/edalize/TOOL.
"""

import json
import shutil
import sys
from pathlib import Path

from edalize.edatool import get_edatool

ROOT = Path(__file__).resolve().parent.parent
SIMULATORS = ("icarus", "ghdl")


def main(tool):
    simulates = tool in SIMULATORS
    edam = json.loads((ROOT / ("{{ v.top }}_sim.eda.yml" if simulates else "{{ v.top }}.eda.yml")).read_text())
    work = ROOT / "build" / "edalize" / tool
    work.mkdir(parents=True, exist_ok=True)
    for file in edam["files"]:
        if file["file_type"] == "user":
            # Testbenches read their rows where they run.
            shutil.copy(ROOT / file["name"], work)
        # Names in an EDAM file are relative to the folder of the run.
        file["name"] = "../../../" + file["name"]
    backend = get_edatool(tool)(edam=edam, work_root=str(work))
    backend.configure()
    backend.build()
    if simulates:
        backend.run()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
