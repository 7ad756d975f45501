// Self-checking testbench. Each lane applies the rows of its file to one module, a row every clock, and compares the
// outputs. A row: stimulus, flags (1: compare data, 2: compare the valid flag, 4: the next number is valid), the row
// whose inputs these outputs belong to, expected response and, where a lane has such, the bits to compare; hexadecimal.
// The last line is "end". The files are in the folder +VECTORS=..., else in the current one.
#include "V{{ name }}.h"
#include "verilated.h"
{%- if vcd %}
#define VCD
{%- endif %}
#ifdef VCD
#include "verilated_vcd_c.h"
#endif
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

// A part of a row that belongs to an element of the model.
struct Element {
  const char* name;
  unsigned lo, width;
  bool is_signed;
};

// Its value, in decimal.
static std::string decimal(const Words& row, const Element& e) {
  Words bits((e.width + 31) / 32, 0);
  for (unsigned k = 0; k < e.width; k++) bits[k / 32] |= (row[(e.lo + k) / 32] >> ((e.lo + k) % 32) & 1) << (k % 32);
  const bool negative = e.is_signed && (bits[(e.width - 1) / 32] >> ((e.width - 1) % 32) & 1);
  if (negative) {
    uint64_t carry = 1;
    for (size_t i = 0; i < bits.size(); i++) {
      const unsigned here = e.width - 32 * i < 32 ? e.width - 32 * i : 32;
      const uint32_t mask = here == 32 ? ~0u : (1u << here) - 1;
      carry += uint32_t(~bits[i] & mask);
      bits[i] = uint32_t(carry) & mask;
      carry >>= here;
    }
  }
  std::string text;
  bool more = true;
  while (more) {
    uint64_t rest = 0;
    more = false;
    for (size_t i = bits.size(); i-- > 0;) {
      rest = rest << 32 | bits[i];
      bits[i] = uint32_t(rest / 10);
      rest %= 10;
      more |= bits[i] != 0;
    }
    text.insert(text.begin(), char('0' + rest));
  }
  return negative ? "-" + text : text;
}

struct Lane {
  int index;
  std::string path;
  std::ifstream file;
  Words stimulus, response, expected, defined;
  unsigned stimulus_width, response_width;
  bool has_valid, masked;
  // Rows of the file, and rows that compare data.
  long rows, to_compare;
  std::vector<Element> inputs, outputs;
  unsigned flags = 0;
  long entered = 0, row = 0, wrong = 0, compared = 0;
  bool broken = false, over = false;

  Lane(int index, const std::string& path, unsigned stimulus_width, unsigned response_width, bool has_valid, bool masked,
       long rows, long to_compare, std::vector<Element> inputs, std::vector<Element> outputs)
      : index(index), path(path), file(path), stimulus((stimulus_width + 31) / 32), response((response_width + 31) / 32),
        expected(response.size()), defined(response.size(), ~0u), stimulus_width(stimulus_width),
        response_width(response_width), has_valid(has_valid), masked(masked), rows(rows), to_compare(to_compare),
        inputs(inputs), outputs(outputs) {
    if (!file.is_open()) fail("cannot open " + path);
  }

  void fail(const std::string& why) {
    std::printf("FAIL %s\n", why.c_str());
    broken = true;
  }

  // The next number of a line, with as many digits as it must have.
  static bool number(const std::string& text, size_t& at, unsigned width, Words& row) {
    for (auto& word : row) word = 0;
    for (unsigned k = (width + 3) / 4; k-- > 0; at++) {
      const char c = at < text.size() ? text[at] : ' ';
      if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))) return false;
      row[k / 8] |= uint32_t(c <= '9' ? c - '0' : c - 'a' + 10) << (k % 8 * 4);
    }
    at++;
    return true;
  }

  bool read(std::istream& from) {
    std::string text;
    if (!std::getline(from, text)) return false;
    size_t at = 0;
    Words small(1), place(1);
    const bool good = number(text, at, stimulus_width, stimulus) && number(text, at, 4, small) &&
                      number(text, at, 32, place) && number(text, at, response_width, expected) &&
                      (!masked || number(text, at, response_width, defined));
    flags = small[0];
    entered = long(place[0]);
    return good;
  }

  // The next row, or false at the end of the file, or where it is not what it must be.
  bool next() {
    if (over || broken) return false;
    if (row < rows) {
      if (!read(file)) fail(path + " ends or is not legible at row " + std::to_string(row) + " of " + std::to_string(rows));
      return !broken;
    }
    over = true;
    std::string last;
    if (!(file >> last) || last != "end") fail(path + " does not end after " + std::to_string(rows) + " rows");
    else if (compared != to_compare)
      fail(path + ": " + std::to_string(compared) + " rows compare data, not " + std::to_string(to_compare));
    return false;
  }

  void check() {
    bool differs = false;
    for (size_t i = 0; i < response.size(); i++) {
      uint32_t looked = flags & 1 ? defined[i] : 0;
      if (i == 0 && has_valid) looked = (looked & ~1u) | (flags >> 1 & 1);
      differs |= ((response[i] ^ expected[i]) & looked) != 0;
    }
    compared += flags & 1;
    if (differs && ++wrong <= {{ shown }}) {
      std::printf("MISMATCH %d %ld ", index, row);
      for (int k = response_width - 1; k >= 0; k--) std::printf("%u", response[k / 32] >> (k % 32) & 1);
      std::printf("\n");
      show();
    }
    row++;
  }

  // Prints the outputs of this row that differ, and its inputs.
  void show() {
    if (has_valid && flags & 2 && (response[0] ^ expected[0]) & 1)
      std::printf("  row %ld: the valid flag: expected %u, found %u\n", row, expected[0] & 1, response[0] & 1);
    for (const Element& e : outputs) {
      bool differs = false;
      for (unsigned k = e.lo; k < e.lo + e.width; k++)
        differs |= (response[k / 32] ^ expected[k / 32]) & defined[k / 32] & 1u << (k % 32);
      if (differs && flags & 1)
        std::printf("  row %ld: %s: expected %s, found %s\n", row, e.name, decimal(expected, e).c_str(),
                    decimal(response, e).c_str());
    }
    if (flags & 4) {
      const long wanted = entered;
      std::ifstream again(path);
      for (long k = 0; k <= wanted && read(again); k++) {}
      std::printf("  row %ld: inputs of row %ld:", row, wanted);
      const char* between = " ";
      for (const Element& e : inputs) {
        std::printf("%s%s = %s", between, e.name, decimal(stimulus, e).c_str());
        between = ", ";
      }
      std::printf("\n");
    }
  }

  void done() {
    if (!broken) std::printf("DONE %d %ld %ld\n", index, row, wrong);
  }
};

int main(int argc, char** argv) {
  Verilated::commandArgs(argc, argv);
  std::string folder = ".";
  for (int i = 1; i < argc; i++)
    if (std::string(argv[i]).compare(0, 9, "+VECTORS=") == 0) folder = argv[i] + 9;
#ifdef VCD
  Verilated::traceEverOn(true);
#endif
  V{{ name }} top;
#ifdef VCD
  VerilatedVcdC trace;
  top.trace(&trace, 99);
  trace.open("wave.vcd");
#endif
{%- for lane in lanes %}
  Lane lane_{{ lane.index }}({{ lane.index }}, folder + "/{{ lane.file }}", {{ lane.stimulus_width }}, {{ lane.response_width }}, {{ lane.has_valid }}, {{ lane.masked }}, {{ lane.rows }}, {{ lane.compared }},
      {
{%- for e in lane.inputs %}
        {"{{ e.name }}", {{ e.lo }}, {{ e.width() }}, {{ e.signed }}},
{%- endfor %}
      },
      {
{%- for e in lane.outputs %}
        {"{{ e.name }}", {{ e.lo }}, {{ e.width() }}, {{ e.signed }}},
{%- endfor %}
      });
{%- endfor %}
  // Times of a dump are picoseconds: a row is a nanosecond low and a nanosecond high.
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
#ifdef VCD
    trace.dump(1000 * time);
#endif
{%- for lane in lanes %}
    if (more_{{ lane.index }}) {
      get(top.actual_{{ lane.index }}, lane_{{ lane.index }}.response);
      lane_{{ lane.index }}.check();
    }
{%- endfor %}
    top.clk = 1;
    top.eval();
#ifdef VCD
    trace.dump(1000 * (time + 1));
#endif
  }
  top.final();
#ifdef VCD
  trace.close();
#endif
  long rows = 0, wrong = 0;
  bool broken = false;
{%- for lane in lanes %}
  lane_{{ lane.index }}.done();
  rows += lane_{{ lane.index }}.row;
  wrong += lane_{{ lane.index }}.wrong;
  broken |= lane_{{ lane.index }}.broken;
{%- endfor %}
  if (wrong > 0) std::printf("FAIL %ld of %ld rows differ\n", wrong, rows);
  else if (!broken) std::printf("PASS %ld rows\n", rows);
  return wrong > 0 || broken;
}
