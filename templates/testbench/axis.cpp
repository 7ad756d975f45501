// Self-checking testbench of the AXI4-Stream wrapper: random gaps and back-pressure, the handshake's rules, full rate.
// A line of beats_in.txt: tdata, tlast, tuser; of beats_out.txt also the first line of the sample's inputs, and how many
// those are; hexadecimal. The last line is "end". The files are in the folder +VECTORS=..., else in the current one.
#include "V{{ v.name }}.h"
#include "verilated.h"
#ifdef VCD
#include "verilated_vcd_c.h"
#endif
#include <cstdint>
#include <cstdio>
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

struct Beat {
  Words data, user;
  bool last;
  // The data as it stands in the file, and where the sample's inputs are.
  std::string text;
  uint32_t first, count;
  bool operator==(const Beat& other) const { return data == other.data && user == other.user && last == other.last; }
};

static Words words(const std::string& text, unsigned width) {
  Words row((width + 31) / 32, 0);
  for (size_t k = 0; k < text.size(); k++) {
    const char c = text[text.size() - 1 - k];
    row[k / 8] |= uint32_t(c <= '9' ? c - '0' : c - 'a' + 10) << (k % 8 * 4);
  }
  return row;
}

static bool broken = false;

static void give_up(const std::string& why) {
  std::printf("FAIL %s\n", why.c_str());
  broken = true;
}

// A file of so many beats and the line "end".
static std::vector<Beat> read(const std::string& path, unsigned width, size_t rows, bool outputs) {
  std::ifstream file(path);
  std::vector<Beat> all;
  if (!file.is_open()) {
    give_up("cannot open " + path);
    return all;
  }
  const std::string digits = "0123456789abcdef";
  auto fits = [&](const std::string& text, unsigned width) {
    return text.size() == (width + 3) / 4 && text.find_first_not_of(digits) == std::string::npos;
  };
  std::string data, last, user, first = "00000000", count = "00000000";
  while (all.size() < rows) {
    file >> data >> last >> user;
    if (outputs) file >> first >> count;
    if (!file || !fits(data, width) || !fits(last, 1) || !fits(user, {{ v.user_bits }}) || !fits(first, 32) || !fits(count, 32)) {
      give_up(path + " ends or is not legible at row " + std::to_string(all.size()) + " of " + std::to_string(rows));
      return all;
    }
    all.push_back(Beat{words(data, width), words(user, {{ v.user_bits }}), last == "1", data, words(first, 32)[0], words(count, 32)[0]});
  }
  if (!(file >> data) || data != "end") give_up(path + " does not end after " + std::to_string(rows) + " rows");
  return all;
}

// A part of a beat that belongs to an element of the model.
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

static uint64_t state = {{ v.seed }} + 0x9e3779b97f4a7c15ull;

// True with a probability of percent in a hundred.
static bool chance(unsigned percent) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state % 100 < percent;
}

static long cycle = 0, wrong = 0;

static void fail(const char* what, size_t beat) {
  if (++wrong <= 20) std::printf("WRONG %ld %s (output beat %zu)\n", cycle, what, beat);
}

static std::string hexadecimal(const Words& row) {
  std::string text;
  char word[9];
  for (size_t i = row.size(); i-- > 0;) {
    std::snprintf(word, sizeof word, "%08x", unsigned(row[i]));
    text += word;
  }
  return text;
}

// Elements on each beat of a sample.
static const std::vector<std::vector<Element>> pieces = {
{%- for pieces in v.pieces %}
  {
{%- for e in pieces %}
    {"{{ e.name }}", {{ e.lo }}, {{ e.width() }}, {{ e.signed }}},
{%- endfor %}
  },
{%- endfor %}
};

// What is wrong with the beat, by name, and what was applied.
static void show(size_t row, const Beat& due, const Beat& seen, const std::vector<Beat>& in) {
  if (wrong > 20) return;
  std::printf("  row %zu: expected tdata %s tlast %d tuser %s, found tdata %s tlast %d tuser %s\n", row,
              hexadecimal(due.data).c_str(), due.last, hexadecimal(due.user).c_str(), hexadecimal(seen.data).c_str(),
              seen.last, hexadecimal(seen.user).c_str());
  for (const Element& e : pieces[row % pieces.size()]) {
    const std::string expected = decimal(due.data, e), found = decimal(seen.data, e);
    if (expected != found)
      std::printf("  row %zu: %s: expected %s, found %s\n", row, e.name, expected.c_str(), found.c_str());
  }
  std::printf("  row %zu: inputs of sample %zu, beats from %u:", row, row / pieces.size(), unsigned(due.first));
  for (size_t k = due.first; k < size_t(due.first) + due.count && k < in.size(); k++)
    std::printf(" %s", in[k].text.c_str());
  std::printf("\n");
}

int main(int argc, char** argv) {
  Verilated::commandArgs(argc, argv);
  V{{ v.name }} top;
  std::string folder = ".";
  for (int i = 1; i < argc; i++)
    if (std::string(argv[i]).compare(0, 9, "+VECTORS=") == 0) folder = argv[i] + 9;
  const std::vector<Beat> in = read(folder + "/beats_in.txt", {{ v.in_width }}, {{ v.rows_in }}, false);
  const std::vector<Beat> out = read(folder + "/beats_out.txt", {{ v.out_width }}, {{ v.rows_out }}, true);
  if (broken) return 1;
  Beat seen = out.at(0);
  size_t received = 0;
  const unsigned paces[6][2] = {{ "{{" }}100, 100}, {100, 30}, {30, 100}, {80, 70}, {15, 95}, {95, 15}};
#ifdef VCD
  Verilated::traceEverOn(true);
  VerilatedVcdC trace;
  top.trace(&trace, 99);
  trace.open("wave.vcd");
  auto dump = [&](uint64_t half) { trace.dump(1000 * (2 * uint64_t(cycle) + half)); };
#else
  auto dump = [](uint64_t) {};
#endif
  auto tick = [&] {
    dump(0);
    top.clk = 1;
    top.eval();
    dump(1);
    top.clk = 0;
    top.eval();
    cycle++;
  };
  // A reset interrupts each pass but the last, which counts.
  for (int pass = 0; pass <= {{ v.resets }}; pass++) {
    const bool counts = pass == {{ v.resets }};
    size_t sent = 0;
    received = 0;
    bool offering = false, waiting = false;
    top.clk = 0;
    top.aresetn = 0;
    top.in_valid = 0;
    top.out_ready = 0;
    for (int i = 0; i < (pass == 0 ? 3 : 1); i++) {
      tick();
      if (top.out_valid) fail("{{ v.names.output }}_tvalid in reset", received);
    }
    top.aresetn = 1;
    const long start = cycle;
    long idle = 0;
    unsigned pace = 0;
    // The reset comes after the end of a packet; with a full FIFO, for which nothing reads; inside a sample; anywhere.
    bool stop = false;
    const bool stalled = pass % 4 == 1 && !counts;
    const long length = stalled ? {{ v.prelude }} : 1 + long((state >> 20) % {{ v.prelude }});
    while (idle < {{ v.drain }} && !stop) {
      if (cycle - start > {{ v.limit }}) {
        fail("no end in sight", received);
        pass = {{ v.resets }};
        break;
      }
      const bool unstalled = counts && sent < {{ v.beats }};
      if (cycle % 64 == 0) pace = unsigned(state >> 20) % 6;
      offering = offering || (sent < in.size() && (stalled || unstalled || chance(paces[pace][0])));
      const bool ready = !stalled && (unstalled || received == out.size() || chance(paces[pace][1]));
      const Beat& next = in[sent < in.size() ? sent : 0];
      put(top.in_data, next.data);
      put(top.in_user, next.user);
      top.in_last = next.last;
      top.in_valid = offering;
      top.out_ready = !ready;
      top.eval();
      const bool valid_before = top.out_valid;
{%- if v.no_path %}
      const bool ready_before = top.in_ready;
{%- endif %}
      top.out_ready = ready;
      top.eval();
{%- if v.no_path %}
      if (ready_before != bool(top.in_ready)) fail("{{ v.names.input }}_tready depends on {{ v.names.output }}_tready within a clock", received);
{%- endif %}
      if (valid_before != bool(top.out_valid)) fail("{{ v.names.output }}_tvalid depends on {{ v.names.output }}_tready", received);
      if (waiting && !top.out_valid) fail("a beat was withdrawn", received);
      waiting = top.out_valid && !ready;
      if (top.out_valid) {
        if (received == out.size()) {
          fail("a beat too many", received);
        } else {
          get(top.out_data, seen.data);
          get(top.out_user, seen.user);
          seen.last = top.out_last;
          if (!(seen == out[received])) {
            fail("not the beat that is due", received);
            show(received, out[received], seen, in);
          }
          if (ready) received++;
        }
      }
      const bool taken = offering && top.in_ready;
      tick();
      if (taken) {
        offering = false;
        sent++;
{%- if v.full_rate %}
        if (unstalled && sent == {{ v.beats }} && cycle - start > {{ v.samples }}L * {{ v.interval }} + {{ v.start }})
          fail("not at full rate", received);
{%- endif %}
      }
      stop = !counts && cycle - start >= length && (pass % 2 == 1 || (taken && (next.last || pass % 4 == 2)));
      idle = received == out.size() && sent == in.size() ? idle + 1 : 0;
    }
  }
  top.final();
#ifdef VCD
  trace.close();
#endif
  std::printf("STREAM %zu %ld\n", received, wrong);
  if (wrong > 0) std::printf("FAIL %ld differences in %zu rows\n", wrong, received);
  else if (received != out.size()) std::printf("FAIL %zu of %zu rows were seen\n", received, out.size());
  else std::printf("PASS %zu rows\n", received);
  return wrong > 0 || received != out.size();
}
