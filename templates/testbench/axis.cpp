// Self-checking testbench of the AXI4-Stream wrapper: random gaps and back-pressure, the handshake's rules, full rate.
// A line of the files: tdata, tlast, tuser; hexadecimal.
#include "V{{ v.name }}.h"
#include "verilated.h"
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

static std::vector<Beat> read(const char* name, unsigned width) {
  std::ifstream file(name);
  std::vector<Beat> all;
  std::string data, last, user;
  while (file >> data >> last >> user) all.push_back(Beat{words(data, width), words(user, {{ v.user_hi + 1 }}), last == "1"});
  return all;
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

int main(int argc, char** argv) {
  Verilated::commandArgs(argc, argv);
  V{{ v.name }} top;
  const std::vector<Beat> in = read("beats_in.txt", {{ v.in_width }}), out = read("beats_out.txt", {{ v.out_width }});
  Beat seen = out.at(0);
  size_t received = 0;
  const unsigned paces[6][2] = {{ "{{" }}100, 100}, {100, 30}, {30, 100}, {80, 70}, {15, 95}, {95, 15}};
  auto tick = [&] {
    top.clk = 1;
    top.eval();
    top.clk = 0;
    top.eval();
    cycle++;
  };
  for (int pass = 0; pass < 2; pass++) {
    size_t sent = 0;
    received = 0;
    bool offering = false, waiting = false;
    top.clk = 0;
    top.aresetn = 0;
    top.in_valid = 0;
    top.out_ready = 0;
    for (int i = 0; i < 3 - 2 * pass; i++) {
      tick();
      if (top.out_valid) fail("m_axis_tvalid in reset", received);
    }
    top.aresetn = 1;
    const long start = cycle;
    long idle = 0;
    bool timed = false;
    unsigned pace = 0;
    while (idle < {{ v.drain }}) {
      if (cycle - start > {{ v.limit }}) {
        fail("no end in sight", received);
        break;
      }
      const bool unstalled = pass == 1 && sent < {{ v.beats }};
      if (cycle % 64 == 0) pace = unsigned(state >> 20) % 6;
      offering = offering || (sent < in.size() && (unstalled || chance(paces[pace][0])));
      const bool ready = unstalled || received == out.size() || chance(paces[pace][1]);
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
      if (ready_before != bool(top.in_ready)) fail("s_axis_tready depends on m_axis_tready within a clock", received);
{%- endif %}
      if (valid_before != bool(top.out_valid)) fail("m_axis_tvalid depends on m_axis_tready", received);
      if (waiting && !top.out_valid) fail("a beat was withdrawn", received);
      waiting = top.out_valid && !ready;
      if (top.out_valid) {
        if (received == out.size()) {
          fail("a beat too many", received);
        } else {
          get(top.out_data, seen.data);
          get(top.out_user, seen.user);
          seen.last = top.out_last;
          if (!(seen == out[received])) fail("not the beat that is due", received);
          if (ready) received++;
        }
      }
      const bool taken = offering && top.in_ready;
      tick();
      if (taken) {
        offering = false;
        sent++;
        // The first pass is cut off with something on its way.
        if (pass == 0 && cycle - start >= {{ v.prelude }}) break;
      }
{%- if v.full_rate %}
      if (pass == 1 && !timed && sent == {{ v.beats }}) {
        timed = true;
        if (cycle - start > {{ v.samples }}L * {{ v.interval }} + 8) fail("not at full rate", received);
      }
{%- endif %}
      idle = received == out.size() && sent == in.size() ? idle + 1 : 0;
    }
    (void)timed;
  }
  top.final();
  std::printf("STREAM %zu %ld\n", received, wrong);
  return 0;
}
