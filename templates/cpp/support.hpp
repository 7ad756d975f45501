// Lanes are unsigned integers; arithmetic on them is modulo two to their bits, so nothing here overflows.

template <class T> struct lane;
template <> struct lane<std::uint8_t> { using sign = std::int8_t; using work = std::uint32_t; };
template <> struct lane<std::uint16_t> { using sign = std::int16_t; using work = std::uint32_t; };
template <> struct lane<std::uint32_t> { using sign = std::int32_t; using work = std::uint32_t; };
template <> struct lane<std::uint64_t> { using sign = std::int64_t; using work = std::uint64_t; };
__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 i128;
template <> struct lane<u128> { using sign = i128; using work = u128; };

template <class T> constexpr unsigned bits_of() { return 8 * static_cast<unsigned>(sizeof(T)); }
template <class T> constexpr T add(T a, T b) {
  using W = typename lane<T>::work;
  return static_cast<T>(static_cast<W>(a) + static_cast<W>(b));
}
template <class T> constexpr T sub(T a, T b) {
  using W = typename lane<T>::work;
  return static_cast<T>(static_cast<W>(a) - static_cast<W>(b));
}
template <class T> constexpr T mul(T a, T b) {
  using W = typename lane<T>::work;
  return static_cast<T>(static_cast<W>(a) * static_cast<W>(b));
}
template <unsigned S, class T> constexpr T shl(T a) {
  using W = typename lane<T>::work;
  return static_cast<T>(static_cast<W>(a) << S);
}
// Arithmetic shift to the right: C++ before 2020 leaves it to the compiler, and every compiler copies the sign.
template <unsigned S, class T> constexpr T sar(T a) {
  return static_cast<T>(static_cast<typename lane<T>::sign>(a) >> S);
}
template <unsigned S, class T> constexpr T shr(T a) { return static_cast<T>(a >> S); }
template <class T> constexpr T relu(T a) {
  return static_cast<T>(a & static_cast<T>(~sar<bits_of<T>() - 1>(a)));
}
// The low B bits, the highest of them repeated; the low B bits.
template <unsigned B, class T> constexpr T sext(T a) { return sar<bits_of<T>() - B>(shl<bits_of<T>() - B>(a)); }
template <unsigned B, class T> constexpr T zext(T a) {
  return static_cast<T>(a & static_cast<T>(static_cast<T>(~T{0}) >> (bits_of<T>() - B)));
}
// a where bit B of c is set, else b, without a branch.
template <unsigned B, class T> constexpr T pick(T c, T a, T b) {
  const T m = sar<bits_of<T>() - 1>(shl<bits_of<T>() - 1 - B>(c));
  return static_cast<T>((a & m) | (b & static_cast<T>(~m)));
}
template <class D, class S> constexpr D widen_signed(S a) {
  return static_cast<D>(static_cast<typename lane<D>::sign>(static_cast<typename lane<S>::sign>(a)));
}
template <class T> constexpr T truth(bool b) { return b ? T{1} : T{0}; }
template <class T> constexpr std::int64_t index_signed(T a) {
  return static_cast<std::int64_t>(static_cast<typename lane<T>::sign>(a));
}
template <class T> constexpr std::int64_t index_unsigned(T a) { return static_cast<std::int64_t>(a); }

// Entry of a table; zero outside it, as in the hardware.
template <class T, class E, std::size_t N> constexpr T entry(const E (&table)[N], std::int64_t index) {
  const std::uint64_t at = static_cast<std::uint64_t>(index);
  return at < N ? static_cast<T>(static_cast<std::int64_t>(table[at])) : T{0};
}

// An integer of L words (two or more) in two's complement, modulo two to 64 L: for what does not fit 128 bits.
template <unsigned L> struct big {
  std::uint64_t w[L];
  static big zero() { big r{}; return r; }
  bool bit(unsigned b) const { return b < 64 * L ? ((w[b / 64] >> (b % 64)) & 1) != 0 : negative(); }
  bool negative() const { return (w[L - 1] >> 63) != 0; }
  static big of_words(const std::uint64_t* p, unsigned n, bool is_signed) {
    big r{};
    const std::uint64_t fill = is_signed && (p[n - 1] >> 63) != 0 ? ~std::uint64_t{0} : 0;
    for (unsigned i = 0; i < L; ++i) r.w[i] = i < n ? p[i] : fill;
    return r;
  }
  static big of_u128(u128 v, bool is_signed) {
    const std::uint64_t p[2] = {static_cast<std::uint64_t>(v), static_cast<std::uint64_t>(v >> 64)};
    return of_words(p, 2, is_signed);
  }
  template <class T> static big of_lane(T v, bool is_signed) {
    return of_u128(is_signed ? widen_signed<u128>(v) : static_cast<u128>(v), is_signed);
  }
  void words(std::uint64_t* p, unsigned n) const {
    for (unsigned i = 0; i < n; ++i) p[i] = i < L ? w[i] : (negative() ? ~std::uint64_t{0} : 0);
  }
  u128 low() const { return (static_cast<u128>(w[1]) << 64) | w[0]; }
  big operator+(const big& o) const {
    big r{};
    std::uint64_t carry = 0;
    for (unsigned i = 0; i < L; ++i) {
      const u128 sum = static_cast<u128>(w[i]) + o.w[i] + carry;
      r.w[i] = static_cast<std::uint64_t>(sum);
      carry = static_cast<std::uint64_t>(sum >> 64);
    }
    return r;
  }
  big operator~() const {
    big r{};
    for (unsigned i = 0; i < L; ++i) r.w[i] = ~w[i];
    return r;
  }
  big operator-() const {
    big one{};
    one.w[0] = 1;
    return ~*this + one;
  }
  big operator-(const big& o) const { return *this + -o; }
  big operator*(const big& o) const {
    big r{};
    for (unsigned i = 0; i < L; ++i) {
      std::uint64_t carry = 0;
      for (unsigned j = 0; i + j < L; ++j) {
        const u128 part = static_cast<u128>(w[i]) * o.w[j] + r.w[i + j] + carry;
        r.w[i + j] = static_cast<std::uint64_t>(part);
        carry = static_cast<std::uint64_t>(part >> 64);
      }
    }
    return r;
  }
  big operator&(const big& o) const {
    big r{};
    for (unsigned i = 0; i < L; ++i) r.w[i] = w[i] & o.w[i];
    return r;
  }
  big operator|(const big& o) const {
    big r{};
    for (unsigned i = 0; i < L; ++i) r.w[i] = w[i] | o.w[i];
    return r;
  }
  big operator^(const big& o) const {
    big r{};
    for (unsigned i = 0; i < L; ++i) r.w[i] = w[i] ^ o.w[i];
    return r;
  }
  bool operator==(const big& o) const {
    bool same = true;
    for (unsigned i = 0; i < L; ++i) same = same && w[i] == o.w[i];
    return same;
  }
  big shl(unsigned s) const {
    big r{};
    const unsigned words = s / 64, rest = s % 64;
    for (unsigned i = words; i < L; ++i) {
      r.w[i] = w[i - words] << rest;
      if (rest != 0 && i > words) r.w[i] |= w[i - words - 1] >> (64 - rest);
    }
    return r;
  }
  big sar(unsigned s) const {
    big r{};
    const std::uint64_t fill = negative() ? ~std::uint64_t{0} : 0;
    const unsigned words = s / 64, rest = s % 64;
    for (unsigned i = 0; i < L; ++i) {
      const std::uint64_t at = i + words < L ? w[i + words] : fill;
      const std::uint64_t next = i + words + 1 < L ? w[i + words + 1] : fill;
      r.w[i] = rest == 0 ? at : (at >> rest) | (next << (64 - rest));
    }
    return r;
  }
  // The low bits of a type, as the type reads them.
  big wrapped(unsigned width, bool is_signed) const {
    big r = *this;
    if (width >= 64 * L) return r;
    const bool ones = is_signed && width > 0 && ((w[(width - 1) / 64] >> ((width - 1) % 64)) & 1) != 0;
    for (unsigned i = 0; i < L; ++i) {
      const unsigned from = 64 * i;
      if (width >= from + 64) continue;
      const std::uint64_t high = width <= from ? ~std::uint64_t{0} : ~std::uint64_t{0} << (width - from);
      r.w[i] = ones ? r.w[i] | high : r.w[i] & ~high;
    }
    return r;
  }
};

// Mantissa and exponent of a finite number: x = mantissa * 2^exponent. False for what is not finite.
inline bool decode(double x, std::int64_t& mantissa, int& exponent) {
  std::uint64_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  const int e = static_cast<int>((bits >> 52) & 0x7ff);
  if (e == 0x7ff) return false;
  const std::int64_t fraction = static_cast<std::int64_t>(bits & ((std::uint64_t{1} << 52) - 1));
  mantissa = e == 0 ? fraction : fraction | (std::int64_t{1} << 52);
  exponent = e == 0 ? -1074 : e - 1075;
  if ((bits >> 63) != 0) mantissa = -mantissa;
  return true;
}
// The low bits of floor(x * 2^scale), exactly; 0 for what is not finite.
template <unsigned L> inline big<L> floor_big(double x, int scale) {
  std::int64_t mantissa = 0;
  int exponent = 0;
  if (!decode(x, mantissa, exponent)) return big<L>::zero();
  const std::uint64_t word = static_cast<std::uint64_t>(mantissa);
  const big<L> m = big<L>::of_words(&word, 1, true);
  const int shift = exponent + scale;
  if (shift >= 0) return shift >= static_cast<int>(64 * L) ? big<L>::zero() : m.shl(static_cast<unsigned>(shift));
  return m.sar(static_cast<unsigned>(-shift < 63 ? -shift : 63));
}
// The code of x in a type of at most 128 bits: floor(x * 2^scale), its low bits. `factor` is 2^scale, or 0 where that
// is no normal number. The exponent decides, and no comparison of doubles: with -ffast-math those assume finite
// numbers, and subnormal ones count as 0.
template <class T, unsigned Width, bool Signed> inline T code_of(double x, double factor, int scale) {
  std::uint64_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  const int e = static_cast<int>((bits >> 52) & 0x7ff);
  T v;
  if (bits << 1 == 0) {
    v = 0;
  } else if (e != 0 && e != 0x7ff && factor > 0.0 && e + scale > 0 && e + scale < 1074) {
    // A normal number below 2^51.
    const double y = x * factor;
    std::int64_t q = static_cast<std::int64_t>(y);
    q -= static_cast<double>(q) > y ? 1 : 0;
    v = static_cast<T>(q);
  } else {
    v = static_cast<T>(floor_big<2>(x, scale).low());
  }
  if constexpr (Width >= 8 * sizeof(T)) return v;
  else if constexpr (Signed) return sext<Width>(v);
  else return zext<Width>(v);
}
// The double nearest to an integer times a power of two, ties to even.
template <unsigned L> inline double nearest(const big<L>& code, int exponent) {
  const bool minus = code.negative();
  const big<L> m = minus ? -code : code;
  int bits = 0;
  for (unsigned i = 0; i < 64 * L; ++i)
    if (((m.w[i / 64] >> (i % 64)) & 1) != 0) bits = static_cast<int>(i) + 1;
  if (bits == 0) return 0.0;
  const long top = static_cast<long>(bits) + exponent;
  double r = 0.0;
  if (top > 1025) {
    r = std::numeric_limits<double>::infinity();
  } else {
    const long unit = top - 53 > -1074 ? top - 53 : -1074;
    const long drop = unit - exponent;
    std::uint64_t n = 0;
    if (drop <= 0) {
      n = m.w[0] << (-drop > 63 ? 0 : -drop);
    } else if (drop <= bits + 1) {
      n = m.sar(static_cast<unsigned>(drop)).w[0];
      bool half = false, below = false;
      for (long i = 0; i < drop && i < static_cast<long>(64 * L); ++i) {
        const bool set = ((m.w[i / 64] >> (i % 64)) & 1) != 0;
        if (i == drop - 1) half = set;
        else below = below || set;
      }
      if (half && (below || (n & 1) != 0)) ++n;
    }
    r = static_cast<double>(n);
    for (long left = unit; left != 0;) {
      const long step = left > 1000 ? 1000 : left < -1000 ? -1000 : left;
      const std::uint64_t b = static_cast<std::uint64_t>(1023 + step) << 52;
      double f;
      std::memcpy(&f, &b, sizeof f);
      r *= f;
      left -= step;
    }
  }
  return minus ? -r : r;
}

template <class T> constexpr typename lane<T>::sign as_signed(T v) { return static_cast<typename lane<T>::sign>(v); }
template <unsigned L> inline big<L> positive(const big<L>& v) { return v.negative() ? big<L>::zero() : v; }
inline double from_bits(std::uint64_t bits) {
  double x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}
// A code of N words as the ports pass it.
template <unsigned L, unsigned N> inline big<L> words_of(const std::int64_t* p) {
  std::uint64_t w[N];
  for (unsigned i = 0; i < N; ++i) w[i] = static_cast<std::uint64_t>(p[i]);
  return big<L>::of_words(w, N, true);
}
template <unsigned N, unsigned L> inline void to_words(const big<L>& v, std::int64_t* p) {
  std::uint64_t w[N];
  v.words(w, N);
  for (unsigned i = 0; i < N; ++i) p[i] = static_cast<std::int64_t>(w[i]);
}
template <unsigned L, class E, std::size_t N> inline big<L> entry_at(const E (&table)[N], const big<L>& index) {
  bool small = !index.negative();
  for (unsigned i = 1; i < L; ++i) small = small && index.w[i] == 0;
  if (!small || index.w[0] >= N) return big<L>::zero();
  const std::uint64_t word = static_cast<std::uint64_t>(static_cast<std::int64_t>(table[index.w[0]]));
  return big<L>::of_words(&word, 1, true);
}
