// Runs the module `emulator` that Verilator made, for `alir2hdl.alkaid`. `ports.hh` beside it lists ports and elements.
//
// A number x becomes the code floor(x * 2^fractionals) modulo 2^width, exactly, of any width; NaN and infinity are code 0. A code
// becomes the nearest double (ties to even). Codes that pass as int64 are taken modulo 2^width.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "Vemulator.h"
#include "verilated.h"

struct Element {
    int lsb, width;
    bool is_signed;
    /// The code of x is floor(x * 2^scale); a code v is v * 2^-scale.
    int scale;
};

struct Port {
    int width;
    std::vector<Element> elements;
};

double sc_time_stamp() { return 0; }

using Words = std::vector<std::uint32_t>;

namespace {

/// Copies words to a port of Verilator's, and back.
template <class T> void to_port(T& port, const Words& words) {
    std::uint64_t value = words[0];
    if (words.size() > 1) value |= static_cast<std::uint64_t>(words[1]) << 32;
    port = static_cast<T>(value);
}
template <std::size_t N> void to_port(VlWide<N>& port, const Words& words) {
    for (std::size_t i = 0; i < N; ++i) port[i] = words[i];
}
template <class T> void from_port(const T& port, Words& words) {
    const std::uint64_t value = port;
    words[0] = static_cast<std::uint32_t>(value);
    if (words.size() > 1) words[1] = static_cast<std::uint32_t>(value >> 32);
}
template <std::size_t N> void from_port(const VlWide<N>& port, Words& words) {
    for (std::size_t i = 0; i < N; ++i) words[i] = port[i];
}

}  // namespace

#include "ports.hh"

namespace {

bool bit(const Words& words, int at) { return words[at / 32] >> (at % 32) & 1; }

void set_bit(Words& words, int at, bool value) {
    const std::uint32_t mask = std::uint32_t{1} << (at % 32);
    words[at / 32] = value ? words[at / 32] | mask : words[at / 32] & ~mask;
}

/// Writes `value * 2^shift` modulo 2^width.
void write(Words& words, const Element& e, std::int64_t value, int shift) {
    for (int k = 0; k < e.width; ++k) {
        const int from = k - shift;
        set_bit(words, e.lsb + k, from >= 0 && (value >> (from < 63 ? from : 63) & 1));
    }
}

void write_real(Words& words, const Element& e, double x) {
    if (!std::isfinite(x)) x = 0;
    int exponent = 0;
    // 53 bits of significand, an integer.
    const double fraction = std::frexp(x, &exponent);
    std::int64_t value = static_cast<std::int64_t>(std::ldexp(fraction, 53));
    const int shift = exponent - 53 + e.scale;
    if (shift >= 0) return write(words, e, value, shift);
    write(words, e, value >> (-shift < 63 ? -shift : 63), 0);
}

/// The low 64 bits of an element, extended by its sign.
std::int64_t code(const Words& words, const Element& e) {
    std::uint64_t value = 0;
    const bool negative = e.is_signed && e.width > 0 && bit(words, e.lsb + e.width - 1);
    for (int k = 0; k < 64; ++k) {
        const bool one = k < e.width ? bit(words, e.lsb + k) : negative;
        value |= static_cast<std::uint64_t>(one) << k;
    }
    return static_cast<std::int64_t>(value);
}

double real(const Words& words, const Element& e) {
    const bool negative = e.is_signed && e.width > 0 && bit(words, e.lsb + e.width - 1);
    // The magnitude, bit by bit; its 64 highest bits and whether one below is set.
    std::vector<bool> bits(static_cast<std::size_t>(e.width) + 1);
    bool carry = negative;
    int top = -1;
    for (int k = 0; k <= e.width; ++k) {
        const bool raw = k < e.width ? bit(words, e.lsb + k) : negative;
        const bool flipped = raw != negative;
        const bool sum = flipped != carry;
        carry = flipped && carry;
        bits[static_cast<std::size_t>(k)] = sum;
        if (sum) top = k;
    }
    if (top < 0) return 0;
    // The lowest bit that a double of this size has.
    int last = top - 52;
    if (last - e.scale < -1074) last = -1074 + e.scale;
    std::uint64_t significand = 0;
    for (int k = top; k >= last && k >= 0; --k) significand = significand << 1 | bits[static_cast<std::size_t>(k)];
    int exponent = last;
    if (last < 0) {
        exponent = 0;
    } else if (last > 0 && last - 1 <= top && bits[static_cast<std::size_t>(last - 1)]) {
        bool above_half = false;
        for (int k = 0; k < last - 1; ++k) above_half = above_half || bits[static_cast<std::size_t>(k)];
        if (above_half || (significand & 1)) ++significand;
    }
    const double magnitude = std::ldexp(static_cast<double>(significand), exponent - e.scale);
    return negative ? -magnitude : magnitude;
}

struct Emulator {
    VerilatedContext context;
    std::unique_ptr<Vemulator> top;
    std::vector<Words> inputs, outputs;

    Emulator() : top(new Vemulator(&context)) {
        for (const Port& port : input_ports()) inputs.emplace_back(words(port));
        for (const Port& port : output_ports()) outputs.emplace_back(words(port));
        set_clock(*top, 0);
        eval();
    }
    ~Emulator() { top->final(); }

    static std::size_t words(const Port& port) { return port.width > 0 ? static_cast<std::size_t>(port.width + 31) / 32 : 1; }

    void eval() {
        put_ports(*top, inputs);
        top->eval();
        get_ports(*top, outputs);
    }
    void tick() {
        put_ports(*top, inputs);
        top->eval();
        set_clock(*top, 1);
        top->eval();
        set_clock(*top, 0);
        top->eval();
        get_ports(*top, outputs);
    }
};

const Port& input(int p) { return input_ports()[static_cast<std::size_t>(p)]; }
const Port& output(int p) { return output_ports()[static_cast<std::size_t>(p)]; }

/// Sets a port from a row of doubles.
void set_row(Emulator& e, std::size_t p, const double* row) {
    const std::vector<Element>& elements = input_ports()[p].elements;
    for (std::size_t k = 0; k < elements.size(); ++k) write_real(e.inputs[p], elements[k], row[k]);
}

void get_row(const Emulator& e, std::size_t p, double* row) {
    const std::vector<Element>& elements = output_ports()[p].elements;
    for (std::size_t k = 0; k < elements.size(); ++k) row[k] = real(e.outputs[p], elements[k]);
}

/// Samples through a pipeline whose result shows `edges` rising edges after its inputs.
void stream(const double* x, double* y, std::size_t samples, std::size_t edges) {
    Emulator e;
    const std::size_t n_in = input_ports()[0].elements.size(), n_out = output_ports()[0].elements.size();
    if (edges == 0) {
        for (std::size_t t = 0; t < samples; ++t) {
            set_row(e, 0, x + t * n_in);
            e.eval();
            get_row(e, 0, y + t * n_out);
        }
        return;
    }
    for (std::size_t t = 0; t + 1 < samples + edges; ++t) {
        if (t < samples) set_row(e, 0, x + t * n_in);
        e.tick();
        // After edge t (counted from 0) the result of sample t + 1 - edges shows.
        if (t + 1 >= edges) get_row(e, 0, y + (t + 1 - edges) * n_out);
    }
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

void* emulator_new() { return new Emulator(); }
void emulator_delete(void* e) { delete static_cast<Emulator*>(e); }
void emulator_eval(void* e) { static_cast<Emulator*>(e)->eval(); }
void emulator_tick(void* e) { static_cast<Emulator*>(e)->tick(); }

void emulator_set_reals(void* e, int p, const double* row) { set_row(*static_cast<Emulator*>(e), static_cast<std::size_t>(p), row); }

void emulator_set_codes(void* e, int p, const std::int64_t* row) {
    Words& words = static_cast<Emulator*>(e)->inputs[static_cast<std::size_t>(p)];
    const std::vector<Element>& elements = input(p).elements;
    for (std::size_t k = 0; k < elements.size(); ++k) write(words, elements[k], row[k], 0);
}

/// Reads a port; `side` 0 for an input, 1 for an output.
void emulator_reals(void* e, int side, int p, double* row) {
    const Emulator& emulator = *static_cast<Emulator*>(e);
    const Words& words = (side ? emulator.outputs : emulator.inputs)[static_cast<std::size_t>(p)];
    const std::vector<Element>& elements = (side ? output(p) : input(p)).elements;
    for (std::size_t k = 0; k < elements.size(); ++k) row[k] = real(words, elements[k]);
}

void emulator_codes(void* e, int side, int p, std::int64_t* row) {
    const Emulator& emulator = *static_cast<Emulator*>(e);
    const Words& words = (side ? emulator.outputs : emulator.inputs)[static_cast<std::size_t>(p)];
    const std::vector<Element>& elements = (side ? output(p) : input(p)).elements;
    for (std::size_t k = 0; k < elements.size(); ++k) row[k] = code(words, elements[k]);
}

/// Clocks: row t of every input (its last row from then on) before edge t, row t of every output after it.
void emulator_run(void* e, const double* const* x, const std::size_t* rows, double* const* y, std::size_t steps) {
    Emulator& emulator = *static_cast<Emulator*>(e);
    for (std::size_t t = 0; t < steps; ++t) {
        for (std::size_t p = 0; p < input_ports().size(); ++p) {
            if (t < rows[p]) set_row(emulator, p, x[p] + t * input_ports()[p].elements.size());
        }
        emulator.tick();
        for (std::size_t p = 0; p < output_ports().size(); ++p) {
            get_row(emulator, p, y[p] + t * output_ports()[p].elements.size());
        }
    }
}

/// Samples through a program, in several threads, each with a copy of the hardware.
void emulator_predict(const double* x, double* y, std::size_t samples, std::size_t edges, std::size_t threads) {
    const std::size_t n_in = input_ports()[0].elements.size(), n_out = output_ports()[0].elements.size();
    if (threads < 2 || samples < 2 * threads) return stream(x, y, samples, edges);
    std::vector<std::thread> running;
    for (std::size_t k = 0; k < threads; ++k) {
        const std::size_t from = samples * k / threads, to = samples * (k + 1) / threads;
        running.emplace_back(stream, x + from * n_in, y + from * n_out, to - from, edges);
    }
    for (std::thread& thread : running) thread.join();
}
}
#pragma GCC visibility pop
