//! AVX2 implementation of the tiles of [`super::tiles`]: four doubles per vector.
//!
//! Products are rounded to nearest. With a factor of at least one, a product is exact. With a smaller factor, the
//! product of a negative number may become minus zero, whose floor is wrong, so such a column uses the slow path.

#![expect(
    clippy::needless_range_loop,
    reason = "iterator adaptors are not inlined into functions of an instruction set"
)]

use super::tiles::{InputTile, Lanes, OutputTile, STRIP_BYTES, TILE, turn, written};
use std::arch::x86_64::*;
use std::mem::MaybeUninit;

/// Returns the masks for `_mm256_maskload_pd` of both halves of a tile with `count` columns.
#[target_feature(enable = "avx2")]
fn present(count: usize) -> [__m256i; 2] {
    let mask = |k: usize| if k < count { -1i64 } else { 0 };
    [_mm256_setr_epi64x(mask(0), mask(1), mask(2), mask(3)), _mm256_setr_epi64x(mask(4), mask(5), mask(6), mask(7))]
}

/// Widths of the lanes of a tile.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// All lanes have 8 bits.
    Bytes,
    /// All lanes have 16 bits.
    Words,
    /// Some lanes have 8 bits and some have 16 bits.
    Narrow,
    /// Lanes of any width up to 32 bits.
    Any,
}

/// Largest number of rows for which missing lanes are redirected to a dummy buffer.
const DUMMY_ROWS: usize = STRIP_BYTES / 8;

/// Returns the kind of the lanes. If all lanes have 8 bits or all have 16 bits, also returns pointers to the columns,
/// with `none` for missing columns.
fn columns(narrow: bool, rows: usize, lanes: &[Lanes; 8], none: *mut u16) -> (Kind, [*mut u8; 8]) {
    let mut pointers = [none.cast(); 8];
    let (mut bytes, mut words) = (false, false);
    for k in 0..TILE {
        match lanes[k] {
            Lanes::None => {}
            Lanes::B1(to) => (bytes, pointers[k]) = (true, to.cast()),
            Lanes::B2(to) => (words, pointers[k]) = (true, to.cast()),
            Lanes::B4(_) => {}
        }
    }
    let kind = match (narrow, bytes, words) {
        (false, ..) => Kind::Any,
        (_, true, true) => Kind::Narrow,
        _ if rows > DUMMY_ROWS => Kind::Narrow,
        (_, true, false) => Kind::Bytes,
        (_, false, _) => Kind::Words,
    };
    (kind, pointers)
}

/// Implements `load` of [`super::tiles`] for lanes of at most 32 bits.
///
/// # Safety
/// `first` points to `rows` rows (a multiple of [`TILE`]) of `stride` doubles, of which the tile's columns are read;
/// each of `lanes` has room for `rows` raw integer values. The processor supports AVX2.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn load(first: *const f64, stride: usize, rows: usize, tile: &InputTile, lanes: &[Lanes; 8]) -> u8 {
    let mut none = MaybeUninit::<[u16; DUMMY_ROWS]>::uninit();
    let (kind, to) = columns(tile.narrow, rows, lanes, none.as_mut_ptr().cast());
    // SAFETY: the caller's guarantee is passed on; `none` has room for as many values as [`columns`] needs.
    unsafe {
        match (kind, tile.count == TILE) {
            (Kind::Bytes, true) => load_as::<true, 1>(first, stride, rows, tile, lanes, to),
            (Kind::Words, true) => load_as::<true, 2>(first, stride, rows, tile, lanes, to),
            (Kind::Bytes, false) => load_as::<false, 1>(first, stride, rows, tile, lanes, to),
            (Kind::Words, false) => load_as::<false, 2>(first, stride, rows, tile, lanes, to),
            (Kind::Narrow, _) => load_as::<false, 3>(first, stride, rows, tile, lanes, to),
            (Kind::Any, _) => load_as::<false, 4>(first, stride, rows, tile, lanes, to),
        }
    }
}

/// Returns, for each column, a mask of the bits that are kept, and the sign bit (0 for none), for lanes of `bits` bits:
/// `((code & kept) ^ sign) - sign` wraps a value to the column's type.
fn wraps(tile: &InputTile, bits: i32) -> [[i32; 8]; 2] {
    let mut wraps = [[0; 8]; 2];
    for k in 0..TILE {
        let width = 32 - tile.sign[k];
        let signed = tile.sign[k] > 0 && width <= bits;
        wraps[0][k] = if signed { ((1u64 << width) - 1) as i32 } else { tile.mask[k] };
        wraps[1][k] = if signed { 1 << (width - 1) } else { 0 };
        if bits == 16 {
            wraps.iter_mut().for_each(|w| w[k] = w[k] << 16 | w[k] & 0xffff);
        }
    }
    wraps
}

/// Implements [`load`] for whole tiles (`WHOLE`) or parts of them. `LANES` is 1 for lanes of one byte, 2 for two bytes,
/// 3 for one or two bytes, 4 for any width; for 1 and 2 the lanes are written through `to`.
///
/// # Safety
/// As [`load`].
#[target_feature(enable = "avx2")]
unsafe fn load_as<const WHOLE: bool, const LANES: u8>(
    first: *const f64,
    stride: usize,
    rows: usize,
    tile: &InputTile,
    lanes: &[Lanes; 8],
    to: [*mut u8; 8],
) -> u8 {
    let present = present(tile.count);
    let wraps = wraps(tile, if LANES < 4 { 16 } else { 32 });
    // SAFETY: arrays of eight.
    let (scale, kept, sign) = unsafe {
        (
            [_mm256_loadu_pd(tile.scale.as_ptr()), _mm256_loadu_pd(tile.scale.as_ptr().add(4))],
            _mm256_loadu_si256(wraps[0].as_ptr().cast()),
            _mm256_loadu_si256(wraps[1].as_ptr().cast()),
        )
    };
    let low_bytes = _mm256_set1_epi64x(0x0e0c_0a08_0604_0200);
    let shrinks = tile.scale.iter().any(|&s| s > 0.0 && s < 1.0);
    let zero = _mm256_setzero_pd();
    let mut least = _mm256_setzero_si256();
    let mut lost = [zero; 2];
    for row in (0..rows).step_by(TILE) {
        let mut codes = [_mm256_setzero_si256(); 8];
        for k in 0..TILE {
            let mut halves = [_mm_setzero_si128(); 2];
            for h in 0..2 {
                let from = first.wrapping_add((row + k) * stride + 4 * h);
                // SAFETY: row and columns are within the caller's guarantee; missing columns are not accessed.
                let x = unsafe { if WHOLE { _mm256_loadu_pd(from) } else { _mm256_maskload_pd(from, present[h]) } };
                let y = _mm256_mul_pd(x, scale[h]);
                if shrinks {
                    let vanished =
                        _mm256_and_pd(_mm256_cmp_pd::<_CMP_LT_OQ>(x, zero), _mm256_cmp_pd::<_CMP_EQ_OQ>(y, zero));
                    lost[h] = _mm256_or_pd(lost[h], vanished);
                }
                halves[h] = _mm256_cvtpd_epi32(_mm256_floor_pd(y));
            }
            codes[k] = _mm256_set_m128i(halves[1], halves[0]);
            least = _mm256_min_epi32(least, codes[k]);
        }
        // SAFETY: there is room for `rows` values.
        unsafe {
            if LANES == 4 {
                for k in 0..TILE {
                    codes[k] = _mm256_sub_epi32(_mm256_xor_si256(_mm256_and_si256(codes[k], kept), sign), sign);
                }
                put_columns(codes, row, lanes);
                continue;
            }
            let mut pairs = [_mm256_setzero_si256(); 4];
            for k in 0..4 {
                let pair = _mm256_blend_epi16::<0xaa>(codes[2 * k], _mm256_slli_epi32::<16>(codes[2 * k + 1]));
                pairs[k] = _mm256_sub_epi16(_mm256_xor_si256(_mm256_and_si256(pair, kept), sign), sign);
            }
            // Column c is in the lower half of vector c, and column c + 4 in the upper half.
            let turned = turn_four(pairs);
            if LANES == 3 {
                put_words(turned, row, lanes);
                continue;
            }
            for c in 0..4 {
                if LANES == 1 {
                    let bytes = _mm256_shuffle_epi8(turned[c], low_bytes);
                    _mm_storel_epi64(to[c].add(row).cast(), _mm256_castsi256_si128(bytes));
                    _mm_storel_epi64(to[c + 4].add(row).cast(), _mm256_extracti128_si256::<1>(bytes));
                } else {
                    _mm_storeu_si128(to[c].add(2 * row).cast(), _mm256_castsi256_si128(turned[c]));
                    _mm_storeu_si128(to[c + 4].add(2 * row).cast(), _mm256_extracti128_si256::<1>(turned[c]));
                }
            }
        }
    }
    let odd = _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(least, _mm256_set1_epi32(i32::MIN))));
    (odd | _mm256_movemask_pd(lost[0]) | _mm256_movemask_pd(lost[1]) << 4) as u8
}

/// Writes eight rows of values to their columns.
///
/// # Safety
/// Each of `lanes` has room for eight values from `row` on.
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn put_columns(rows: [__m256i; 8], row: usize, lanes: &[Lanes; 8]) {
    let low_bytes = _mm_setr_epi8(0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1);
    let low_words = _mm_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, -1, -1, -1, -1, -1, -1, -1, -1);
    let columns = turn(rows);
    for k in 0..TILE {
        let column = columns[k];
        let (low, high) = (_mm256_castsi256_si128(column), _mm256_extracti128_si256::<1>(column));
        // SAFETY: the caller's promise.
        unsafe {
            match lanes[k] {
                Lanes::None => {}
                Lanes::B1(to) => {
                    let bytes = _mm_unpacklo_epi32(_mm_shuffle_epi8(low, low_bytes), _mm_shuffle_epi8(high, low_bytes));
                    _mm_storel_epi64(to.add(row).cast(), bytes);
                }
                Lanes::B2(to) => {
                    let words = _mm_unpacklo_epi64(_mm_shuffle_epi8(low, low_words), _mm_shuffle_epi8(high, low_words));
                    _mm_storeu_si128(to.add(row).cast(), words);
                }
                Lanes::B4(to) => _mm256_storeu_si256(to.add(row).cast(), column),
            }
        }
    }
}

/// Like [`put_columns`], for lanes of at most 16 bits and the result of [`turn_four`] for pairs of rows.
///
/// # Safety
/// As [`put_columns`].
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn put_words(turned: [__m256i; 4], row: usize, lanes: &[Lanes; 8]) {
    let low_bytes = _mm_setr_epi8(0, 2, 4, 6, 8, 10, 12, 14, -1, -1, -1, -1, -1, -1, -1, -1);
    for c in 0..4 {
        let columns = [_mm256_castsi256_si128(turned[c]), _mm256_extracti128_si256::<1>(turned[c])];
        for h in 0..2 {
            let column = columns[h];
            // SAFETY: the caller's promise.
            unsafe {
                match lanes[c + 4 * h] {
                    Lanes::B1(to) => _mm_storel_epi64(to.add(row).cast(), _mm_shuffle_epi8(column, low_bytes)),
                    Lanes::B2(to) => _mm_storeu_si128(to.add(row).cast(), column),
                    Lanes::None | Lanes::B4(_) => {}
                }
            }
        }
    }
}

/// Transposes four rows of four integers, in each half of the vectors separately.
#[target_feature(enable = "avx2")]
#[inline]
fn turn_four(r: [__m256i; 4]) -> [__m256i; 4] {
    let (a, b) = (_mm256_unpacklo_epi32(r[0], r[1]), _mm256_unpackhi_epi32(r[0], r[1]));
    let (c, d) = (_mm256_unpacklo_epi32(r[2], r[3]), _mm256_unpackhi_epi32(r[2], r[3]));
    [_mm256_unpacklo_epi64(a, c), _mm256_unpackhi_epi64(a, c), _mm256_unpacklo_epi64(b, d), _mm256_unpackhi_epi64(b, d)]
}

/// Order of the columns in the rows that [`store`] converts, so that the values unpacked from both halves are adjacent.
const PLACES: [usize; 8] = [0, 1, 4, 5, 2, 3, 6, 7];

/// Implements `store` of [`super::tiles`] for lanes of at most 32 bits.
///
/// A raw value plus a bias that makes it non-negative becomes the low half of a double from 2^52 to 2^53. This double
/// times the scale, minus the scaled bias (all exact), is the result.
///
/// # Safety
/// As for [`load`], but `first` is written and the lanes are read; the processor also supports FMA.
#[target_feature(enable = "avx2,fma")]
pub(super) unsafe fn store(first: *mut f64, stride: usize, rows: usize, tile: &OutputTile, lanes: &[Lanes; 8]) {
    static NONE: [u16; DUMMY_ROWS] = [0; DUMMY_ROWS];
    let (kind, from) = columns(tile.narrow, rows, lanes, NONE.as_ptr().cast_mut());
    // SAFETY: the caller's guarantee is passed on; a missing lane is only read, within the memory that [`columns`]
    // requires.
    unsafe {
        match (kind, written(tile) == 0xff) {
            (Kind::Bytes, true) => store_as::<true, 1>(first, stride, rows, tile, lanes, from),
            (Kind::Words, true) => store_as::<true, 2>(first, stride, rows, tile, lanes, from),
            (Kind::Bytes, false) => store_as::<false, 1>(first, stride, rows, tile, lanes, from),
            (Kind::Words, false) => store_as::<false, 2>(first, stride, rows, tile, lanes, from),
            (Kind::Narrow, _) => store_as::<false, 3>(first, stride, rows, tile, lanes, from),
            (Kind::Any, _) => store_as::<false, 4>(first, stride, rows, tile, lanes, from),
        }
    }
}

/// Implements [`store`] for whole tiles (`WHOLE`) or parts of them, and lanes as in [`load_as`].
///
/// # Safety
/// As [`store`].
#[target_feature(enable = "avx2,fma")]
unsafe fn store_as<const WHOLE: bool, const LANES: u8>(
    first: *mut f64,
    stride: usize,
    rows: usize,
    tile: &OutputTile,
    lanes: &[Lanes; 8],
    from: [*mut u8; 8],
) {
    const MAGIC: f64 = (1u64 << 52) as f64;
    let wanted = written(tile);
    // Lanes of one byte are zero-extended; all others are extended as they are read.
    let top: u32 = match LANES {
        1 => 1 << 7,
        4 => 1 << 31,
        _ => 1 << 15,
    };
    let bias = |k: usize| if tile.zero[k] && LANES != 4 { 0 } else { top };
    let mut less = [0.0; 8];
    let mut flips = [0i32; 8];
    for (place, k) in PLACES.into_iter().enumerate() {
        less[k] = (MAGIC + f64::from(bias(k))) * tile.scale[k];
        let both = if LANES != 4 { bias(k) << 16 | bias(k) } else { bias(k) };
        flips[place] = both.cast_signed();
    }
    // SAFETY: arrays of eight.
    let (scale, less, flips) = unsafe {
        (
            [_mm256_loadu_pd(tile.scale.as_ptr()), _mm256_loadu_pd(tile.scale.as_ptr().add(4))],
            [_mm256_loadu_pd(less.as_ptr()), _mm256_loadu_pd(less.as_ptr().add(4))],
            _mm256_loadu_si256(flips.as_ptr().cast()),
        )
    };
    let exponent = _mm256_set1_epi32((MAGIC.to_bits() >> 32) as i32);
    for row in (0..rows).step_by(TILE) {
        let mut columns = [_mm_setzero_si128(); 8];
        // SAFETY: there are `rows` codes.
        let codes = unsafe {
            for place in 0..TILE {
                let c = PLACES[place];
                columns[place] = match LANES {
                    1 => _mm_cvtepu8_epi16(_mm_loadl_epi64(from[c].add(row).cast())),
                    2 => _mm_loadu_si128(from[c].add(2 * row).cast()),
                    3 => lanes[c].words(row, tile.zero[c]),
                    _ => break,
                };
            }
            if LANES == 4 { biased_rows(row, tile, lanes, flips) } else { biased_word_rows(columns, flips) }
        };
        for k in 0..TILE {
            let halves = [_mm256_unpacklo_epi32(codes[k], exponent), _mm256_unpackhi_epi32(codes[k], exponent)];
            for h in 0..2 {
                let reals = _mm256_fmsub_pd(_mm256_castsi256_pd(halves[h]), scale[h], less[h]);
                let to = first.wrapping_add((row + k) * stride + 4 * h);
                // SAFETY: row and columns are within the caller's guarantee; other columns are not accessed.
                unsafe { if WHOLE { _mm256_storeu_pd(to, reals) } else { put(to, reals, wanted >> (4 * h) & 15) } };
            }
        }
    }
}

/// Returns eight rows of biased values; the columns are in the order of [`PLACES`].
///
/// # Safety
/// Each of `lanes` has eight values from `row` on.
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn biased_rows(row: usize, tile: &OutputTile, lanes: &[Lanes; 8], flips: __m256i) -> [__m256i; 8] {
    let mut columns = [_mm256_setzero_si256(); 8];
    for place in 0..TILE {
        let c = PLACES[place];
        // SAFETY: the caller's promise.
        columns[place] = unsafe { lanes[c].codes(row, tile.zero[c]) };
    }
    let mut rows = turn(columns);
    for k in 0..TILE {
        rows[k] = _mm256_xor_si256(rows[k], flips);
    }
    rows
}

/// Like [`biased_rows`], for columns of 16 bits in the order of [`PLACES`]: rows are transposed in pairs.
#[target_feature(enable = "avx2")]
#[inline]
fn biased_word_rows(columns: [__m128i; 8], flips: __m256i) -> [__m256i; 8] {
    let mut both = [_mm256_setzero_si256(); 4];
    for c in 0..4 {
        both[c] = _mm256_set_m128i(columns[c + 4], columns[c]);
    }
    let pairs = turn_four(both);
    let mut rows = [_mm256_setzero_si256(); 8];
    for k in 0..4 {
        let pair = _mm256_xor_si256(pairs[k], flips);
        rows[2 * k] = _mm256_blend_epi16::<0xaa>(pair, _mm256_setzero_si256());
        rows[2 * k + 1] = _mm256_srli_epi32::<16>(pair);
    }
    rows
}

/// Writes the doubles whose bit in `wanted` is set, of four doubles. (A masked store takes many times as long on some
/// processors.)
///
/// # Safety
/// `to` has room for the doubles that `wanted` selects.
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn put(to: *mut f64, reals: __m256d, wanted: u8) {
    let (low, high) = (_mm256_castpd256_pd128(reals), _mm256_extractf128_pd::<1>(reals));
    // SAFETY: the caller's promise.
    unsafe {
        match wanted {
            0 => {}
            0b1111 => _mm256_storeu_pd(to, reals),
            0b0001 => _mm_store_sd(to, low),
            0b0011 => _mm_storeu_pd(to, low),
            0b0111 => {
                _mm_storeu_pd(to, low);
                _mm_store_sd(to.add(2), high);
            }
            _ => {
                let mut each = [0.0; 4];
                _mm256_storeu_pd(each.as_mut_ptr(), reals);
                for (k, real) in each.into_iter().enumerate().filter(|(k, _)| wanted >> k & 1 == 1) {
                    to.add(k).write(real);
                }
            }
        }
    }
}
