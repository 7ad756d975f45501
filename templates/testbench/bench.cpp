// Self-checking testbench. Each lane applies the rows of its file to one module, a row every clock, and compares what
// comes out. A row: stimulus, flags (1: compare data, 2: compare the valid flag), expected response and, where a lane
// has such, the bits to compare; hexadecimal.
#include "V{{ name }}.h"
#include "verilated.h"
{%- if vcd %}
#include "verilated_vcd_c.h"
{%- endif %}
#include <cstdio>
#include <cstdint>
#include <fstream>
#include <string>
#include <type_traits>
#include <vector>

// Asked for by releases that keep no time of their own.
double sc_time_stamp() { return 0; }

typedef std::vector<uint32_t> Words;

// Ports up to 64 bits are numbers, wider ones are arrays of 32-bit words.
template <class Port> typename std::enable_if<std::is_integral<Port>::value>::type put(Port& port, const Words& row) {
  uint64_t value = row[0];
  if (row.size() > 1) value |= uint64_t(row[1]) << 32;
  port = static_cast<Port>(value);
}
template <class Port> typename std::enable_if<!std::is_integral<Port>::value>::type put(Port& port, const Words& row) {
  for (size_t i = 0; i < row.size(); i++) port[i] = row[i];
}
template <class Port> typename std::enable_if<std::is_integral<Port>::value>::type get(const Port& port, Words& row) {
  row[0] = static_cast<uint32_t>(port);
  if (row.size() > 1) row[1] = static_cast<uint32_t>(static_cast<uint64_t>(port) >> 32);
}
template <class Port> typename std::enable_if<!std::is_integral<Port>::value>::type get(const Port& port, Words& row) {
  for (size_t i = 0; i < row.size(); i++) row[i] = port[i];
}

struct Lane {
  int index;
  std::ifstream file;
  Words stimulus, response, expected, defined;
  unsigned response_width;
  bool has_valid;
  unsigned flags = 0;
  long row = 0, wrong = 0;

  Lane(int index, const char* name, unsigned stimulus_width, unsigned response_width, bool has_valid)
      : index(index), file(name), stimulus((stimulus_width + 31) / 32), response((response_width + 31) / 32),
        expected(response.size()), defined(response.size(), ~0u), response_width(response_width), has_valid(has_valid) {}

  static unsigned digit(char c) { return c <= '9' ? c - '0' : c - 'a' + 10; }

  static void read(const std::string& text, size_t from, size_t to, Words& row) {
    for (auto& word : row) word = 0;
    for (size_t k = 0; k < to - from; k++) row[k / 8] |= digit(text[to - 1 - k]) << (k % 8 * 4);
  }

  // The next row, or false at the end of the file.
  bool next() {
    std::string text;
    if (!std::getline(file, text)) return false;
    size_t first = text.find(' '), second = text.find(' ', first + 1);
    read(text, 0, first, stimulus);
    flags = digit(text[first + 1]);
    size_t third = text.find(' ', second + 1);
    if (third == std::string::npos) third = text.size();
    read(text, second + 1, third, expected);
    if (third < text.size()) read(text, third + 1, text.size(), defined);
    return true;
  }

  void check() {
    bool differs = false;
    for (size_t i = 0; i < response.size(); i++) {
      uint32_t compared = flags & 1 ? defined[i] : 0;
      if (i == 0 && has_valid) compared = (compared & ~1u) | (flags >> 1 & 1);
      differs |= ((response[i] ^ expected[i]) & compared) != 0;
    }
    if (differs && ++wrong <= {{ shown }}) {
      std::printf("MISMATCH %d %ld ", index, row);
      for (int k = response_width - 1; k >= 0; k--) std::printf("%u", response[k / 32] >> (k % 32) & 1);
      std::printf("\n");
    }
    row++;
  }

  void done() { std::printf("DONE %d %ld %ld\n", index, row, wrong); }
};

int main(int argc, char** argv) {
  Verilated::commandArgs(argc, argv);
{%- if vcd %}
  Verilated::traceEverOn(true);
{%- endif %}
  V{{ name }} top;
{%- if vcd %}
  VerilatedVcdC trace;
  top.trace(&trace, 99);
  trace.open("wave.vcd");
{%- endif %}
{%- for lane in lanes %}
  Lane lane_{{ lane.index }}({{ lane.index }}, "{{ lane.file }}", {{ lane.stimulus_width }}, {{ lane.response_width }}, {{ lane.has_valid }});
{%- endfor %}
{%- if vcd %}
  // Picoseconds: a row is a nanosecond low and a nanosecond high.
{%- endif %}
  for (uint64_t time = 0;; time += 2) {
    bool any = false;
{%- for lane in lanes %}
    const bool more_{{ lane.index }} = lane_{{ lane.index }}.next();
    if (more_{{ lane.index }}) put(top.stimulus_{{ lane.index }}, lane_{{ lane.index }}.stimulus);
    any |= more_{{ lane.index }};
{%- endfor %}
    if (!any) break;
    top.clk = 0;
    top.eval();
{%- if vcd %}
    trace.dump(1000 * time);
{%- endif %}
{%- for lane in lanes %}
    if (more_{{ lane.index }}) {
      get(top.response_{{ lane.index }}, lane_{{ lane.index }}.response);
      lane_{{ lane.index }}.check();
    }
{%- endfor %}
    top.clk = 1;
    top.eval();
{%- if vcd %}
    trace.dump(1000 * (time + 1));
{%- endif %}
  }
  top.final();
{%- if vcd %}
  trace.close();
{%- endif %}
{%- for lane in lanes %}
  lane_{{ lane.index }}.done();
{%- endfor %}
  return 0;
}
