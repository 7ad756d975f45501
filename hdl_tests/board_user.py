"""Runs the driver of a project for a board against a DMA engine that is simulated, around the project's own RTL in Icarus Verilog.

    board_user.py PROJECT SAMPLES.npy EXPECTED.npy WORK

The stand-in for `pynq` moves the very bytes of the driver's buffers through `s_axis` and `m_axis`, with gaps on both sides.
"""

import importlib.util
import json
import subprocess
import sys
import types
from pathlib import Path

import numpy as np

project, samples, expected, work = Path(sys.argv[1]), np.load(sys.argv[2]), np.load(sys.argv[3]), Path(sys.argv[4])
facts = json.loads((project / "metadata.json").read_text())
top, streams = facts["project"]["top"], facts["axis"]
width_in, width_out = streams["s_axis"]["data_width"], streams["m_axis"]["data_width"]

BENCH = f"""
module bench;
    reg aclk = 0, aresetn = 0, s_valid = 0, m_ready = 0;
    always #5 aclk = !aclk;
    reg [{width_in - 1}:0] beats [0:(1 << 16) - 1];
    reg [{width_in - 1}:0] s_data = 0;
    wire [{width_out - 1}:0] m_data;
    wire s_ready, m_valid, m_last;
    reg s_last = 0;
    integer sent = 0, count, out, clocks = 0, seed = 1;
    {top} dut (.aclk(aclk), .aresetn(aresetn), .s_axis_tdata(s_data), .s_axis_tvalid(s_valid), .s_axis_tready(s_ready),
        .s_axis_tlast(s_last), .m_axis_tdata(m_data), .m_axis_tvalid(m_valid), .m_axis_tready(m_ready), .m_axis_tlast(m_last));
    initial begin
        if (!$value$plusargs("COUNT=%d", count)) $finish;
        $readmemh("beats.hex", beats, 0, count - 1);
        out = $fopen("results.hex", "w");
        repeat (3) @(posedge aclk);
        aresetn <= 1;
    end
    always @(posedge aclk) if (aresetn) begin
        clocks = clocks + 1;
        if (s_valid && s_ready) s_valid <= 0;
        if ((!s_valid || s_ready) && sent < count && $unsigned($random(seed)) % 4 != 0) begin
            s_data <= beats[sent];
            s_last <= sent == count - 1;
            s_valid <= 1;
            sent = sent + 1;
        end
        m_ready <= $random(seed);
        if (m_valid && m_ready) begin
            $fwrite(out, "%h\\n", m_data);
            // The last beat of the transfer ends it, as it does for the engine.
            if (m_last) begin $fclose(out); $display("DONE"); $finish; end
        end
        if (clocks > 1000000) $finish;
    end
endmodule
"""


class Buffer(np.ndarray):
    freed = 0

    def freebuffer(self):
        Buffer.freed += 1


def allocate(shape, dtype):
    return np.zeros(shape, dtype).view(Buffer)


class Channel:
    def __init__(self, dma):
        self.dma, self.buffer = dma, None

    def transfer(self, buffer):
        assert self.buffer is None, "the channel is at work"
        assert buffer.nbytes < 1 << 26, "longer than the engine's register"
        self.buffer = buffer

    def wait(self):
        assert self.buffer is not None, "nothing to wait for"
        if self is self.dma.recvchannel:
            self.dma.move()
        self.buffer = None if self is self.dma.recvchannel else self.buffer


class Dma:
    transfers = 0

    def __init__(self):
        self.sendchannel, self.recvchannel = Channel(self), Channel(self)

    def move(self):
        there, back = self.sendchannel.buffer, self.recvchannel.buffer
        beats = np.asarray(there).reshape(-1, width_in // 8)
        # The lowest byte of memory is the lowest of the stream.
        (work / "beats.hex").write_text("\n".join(bytes(beat[::-1]).hex() for beat in beats))
        said = subprocess.run(["vvp", "-n", "bench.vvp", f"+COUNT={len(beats)}"], cwd=work, capture_output=True, text=True, check=True)
        assert "DONE" in said.stdout, said.stdout
        lines = (work / "results.hex").read_text().split()
        data = np.array([list(bytes.fromhex(line))[::-1] for line in lines], dtype=np.uint8).reshape(-1)
        assert data.size == back.size, (data.size, back.size)
        back[:] = data.reshape(back.shape)
        self.sendchannel.buffer = None
        Dma.transfers += 1


class Overlay:
    def __init__(self, bitfile):
        assert Path(bitfile).name == f"{top}.bit", bitfile
        self.dma = Dma()


sys.modules["pynq"] = types.SimpleNamespace(Overlay=Overlay, allocate=allocate)
(work / "bench.v").write_text(BENCH)
subprocess.run(["iverilog", "-g2001", "-s", "bench", "-o", "bench.vvp", "bench.v", project / "rtl" / f"{top}.v"], cwd=work, check=True)
spec = importlib.util.spec_from_file_location("driver", project / "board" / "driver.py")
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
driver = module.Driver()
found = driver.predict(samples)
# The very bits: also the sign of zero is one.
assert found.dtype == np.float64 and found.tobytes() == expected.tobytes(), np.argwhere(found != expected)[:5]
assert driver.predict(samples[3]).tobytes() == expected[3].tobytes()
# Several transfers give what one does.
module.LONGEST = 7 * max(driver.inputs.bytes, driver.outputs.bytes)
transfers = Dma.transfers
assert driver.predict(samples[:15]).tobytes() == expected[:15].tobytes() and Dma.transfers == transfers + 3
assert Buffer.freed == 2 * Dma.transfers
for wrong in (samples[:, :-1], np.full(samples.shape, np.nan)):
    try:
        driver.predict(wrong)
    except ValueError:
        continue
    raise AssertionError("this is no sample")
print("BOARD", len(samples), "samples")
