//! Conversion between rows of doubles and columns of raw integer values, in tiles of eight by eight, for AVX-512; see
//! [`super::tiles_avx2`] for AVX2.
//!
//! Samples are rows and lanes are columns. Transposing one number at a time would cost more than the programs
//! themselves, so a tile is converted in vectors and transposed by shuffles: of pairs of 16 bits if all lanes are at
//! most 16 bits wide, otherwise of 32 bits. The reference implementations are `load` and `store` of [`super::kernels`],
//! which also handle the edges.
//!
//! `floor(x * 2^k)` is a product and a conversion, both rounded down. The product is exact unless it is subnormal; a
//! subnormal product still has the correct floor, -1 or 0. For numbers that do not fit 32 bits, NaN and infinities, the
//! conversion returns the least integer, which selects the slow path.

use super::convert;
use super::lower::{Code, Lane, OutputConversion, Reg};
use super::plan::{InstructionSet, Plan};
use super::run::{Fault, Real, RealOut, Runner};
use super::tiles_avx2;
use alir_core::ir::Model;
use std::arch::x86_64::*;

/// Rows and columns of a tile.
pub(super) const TILE: usize = 8;

/// Size in bytes of a group of rows that fits the first-level cache; all tiles convert these rows before the next
/// group.
pub(super) const STRIP_BYTES: usize = 1 << 15;

const DOWN: i32 = _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC;

/// Up to eight columns of inputs that are converted together.
#[derive(Clone)]
pub(super) struct InputTile {
    /// Index of the first column.
    column: usize,
    pub(super) count: usize,
    /// Index of the input conversion of each column; `None` for columns that are not converted.
    inputs: [Option<u32>; 8],
    /// `true` if all lanes are at most 16 bits wide.
    pub(super) narrow: bool,
    /// Powers of two by which the columns are multiplied; 0 for columns that are not converted.
    pub(super) scale: [f64; 8],
    /// Shift distance, left and then right, that extends the sign bit of each type in 32 bits; 0 for no extension.
    pub(super) sign: [i32; 8],
    /// Masks of unsigned types; all ones for signed types.
    pub(super) mask: [i32; 8],
}

/// Up to eight columns of outputs that are converted together.
#[derive(Clone)]
pub(super) struct OutputTile {
    /// Index of the first column.
    column: usize,
    /// Index of the output of each column; `None` for columns that are not converted.
    outputs: [Option<u32>; 8],
    pub(super) narrow: bool,
    pub(super) scale: [f64; 8],
    /// `true` for columns that are zero-extended.
    pub(super) zero: [bool; 8],
}

/// Assigns inputs to tiles. Returns the tiles, the indices of all inputs (inputs in tiles first), and the number of
/// inputs in tiles.
pub(super) fn input_tiles(model: &Model, code: &Code) -> (Vec<InputTile>, Vec<u32>, usize) {
    let n = model.n_inputs();
    let empty = |column: usize| InputTile {
        column,
        count: (n - column).min(TILE),
        inputs: [None; 8],
        narrow: true,
        scale: [0.0; 8],
        sign: [0; 8],
        mask: [-1; 8],
    };
    let mut tiles: Vec<InputTile> = (0..n).step_by(TILE).map(empty).collect();
    let (mut order, mut rest) = (Vec::new(), Vec::new());
    for (k, input) in code.inputs.iter().enumerate() {
        let column = input.input as usize;
        let (tile, at) = (&mut tiles[column / TILE], column % TILE);
        let width = input.kif.width();
        let lane = code.lanes[input.dst as usize];
        let scale = i64::from(model.inp_shifts()[column]) + i64::from(input.kif.frac);
        let fits = lane <= Lane::B4 && width <= 31 + u32::from(input.kif.signed);
        match convert::power(scale) {
            Some(power) if fits && tile.inputs[at].is_none() => {
                tile.inputs[at] = Some(k as u32);
                tile.narrow &= lane <= Lane::B2;
                tile.scale[at] = power;
                if input.kif.signed {
                    tile.sign[at] = 32 - width as i32;
                } else {
                    tile.mask[at] = ((1u32 << width) - 1).cast_signed();
                }
                order.push(k as u32);
            }
            _ => rest.push(k as u32),
        }
    }
    tiles.retain(|t| t.inputs.iter().any(Option::is_some));
    let tiled = order.len();
    order.extend(rest);
    (tiles, order, tiled)
}

/// Like [`input_tiles`], for the outputs.
pub(super) fn output_tiles(code: &Code) -> (Vec<OutputTile>, Vec<u32>, usize) {
    let n = code.outputs.len();
    let empty =
        |column: usize| OutputTile { column, outputs: [None; 8], narrow: true, scale: [0.0; 8], zero: [false; 8] };
    let mut tiles: Vec<OutputTile> = (0..n).step_by(TILE).map(empty).collect();
    let (mut order, mut rest) = (Vec::new(), Vec::new());
    for (j, out) in code.outputs.iter().enumerate() {
        let (tile, at) = (&mut tiles[j / TILE], j % TILE);
        let lane = out.src.map_or(Lane::Wide, |reg| code.lanes[reg as usize]);
        // The signed integers of a tile cannot represent unsigned values of 32 bits.
        let fits = lane <= Lane::B2 || (lane == Lane::B4 && !out.zero);
        match convert::power(out.exponent.into()) {
            Some(power) if fits && OutputConversion::EXACT_SCALES.contains(&out.exponent) => {
                tile.outputs[at] = Some(j as u32);
                tile.narrow &= lane <= Lane::B2;
                (tile.scale[at], tile.zero[at]) = (power, out.zero);
                order.push(j as u32);
            }
            _ => rest.push(j as u32),
        }
    }
    tiles.retain(|t| t.outputs.iter().any(Option::is_some));
    let tiled = order.len();
    order.extend(rest);
    (tiles, order, tiled)
}

/// Returns the number of rows of a strip.
fn strip(stride: usize) -> usize {
    (STRIP_BYTES / (8 * stride.max(1)) / TILE * TILE).max(TILE)
}

impl Runner<'_> {
    /// Returns a pointer to the samples of a register, as a column of a tile.
    fn lanes(&mut self, reg: Option<Reg>) -> Lanes {
        let Some(reg) = reg else { return Lanes::None };
        let (plan, offset) = (self.plan, self.layout.offsets[reg as usize]);
        let exec = self.exec();
        // SAFETY: a register of this lane has a slot at this offset; code that uses the pointer bounds its accesses.
        unsafe {
            match plan.code.lanes[reg as usize] {
                Lane::B1 => Lanes::B1(exec.slot_mut(offset).as_mut_ptr()),
                Lane::B2 => Lanes::B2(exec.slot_mut(offset).as_mut_ptr()),
                _ => Lanes::B4(exec.slot_mut(offset).as_mut_ptr()),
            }
        }
    }

    /// Loads the inputs of all tiles for the block of `n` samples that begins with row `start`. Requires a plan for
    /// AVX2 or AVX-512.
    pub(super) fn load_tiles(&mut self, rows: &[f64], start: usize, n: usize, faults: &mut Vec<Fault>) {
        let plan: &Plan = self.plan;
        let stride = plan.n_inputs;
        let whole = n / TILE * TILE;
        let block = &rows[start * stride..(start + n) * stride];
        let registers = |tile: &InputTile| tile.inputs.map(|k| k.map(|k| plan.code.inputs[k as usize].dst));
        let lanes: Vec<[Lanes; 8]> =
            plan.input_tiles.iter().map(|tile| registers(tile).map(|reg| self.lanes(reg))).collect();
        let mut odd = vec![0u8; lanes.len()];
        let strip = strip(stride);
        let wide = plan.set >= InstructionSet::Avx512;
        for row in (0..whole).step_by(strip) {
            let count = strip.min(whole - row);
            // Prefetches the next strip during the conversion of this one.
            let next = rows.as_ptr().wrapping_add((start + row + strip) * stride).cast::<i8>();
            for line in (0..strip * stride * 8).step_by(64) {
                // SAFETY: a prefetch is only a hint and accepts any address.
                unsafe { _mm_prefetch::<_MM_HINT_T0>(next.wrapping_add(line)) };
            }
            for ((tile, lanes), odd) in plan.input_tiles.iter().zip(&lanes).zip(&mut odd) {
                let first = block[row * stride + tile.column..].as_ptr();
                let lanes = lanes.map(|l| l.from(row));
                // SAFETY: the rows are in `block`, which has all columns; slots have room for a block; the features of
                // the processor were checked.
                *odd |= unsafe {
                    match (wide, tile.narrow) {
                        (true, true) => load_narrow(first, stride, count, tile, &lanes),
                        (true, false) => load(first, stride, count, tile, &lanes),
                        (false, _) => tiles_avx2::load(first, stride, count, tile, &lanes),
                    }
                };
            }
        }
        for (tile, odd) in plan.input_tiles.iter().zip(odd) {
            for (k, input) in tile.inputs.iter().enumerate() {
                // The slow path converts the whole column if the column has a number that the tile cannot convert,
                // otherwise only the rows after the last whole tile.
                let done = if odd >> k & 1 == 1 { 0 } else { whole };
                if let Some(input) = input
                    && done < self.padded(n)
                {
                    self.load(&Real(rows), &plan.code.inputs[*input as usize], start, done..n, faults);
                }
            }
        }
    }

    /// Stores the outputs of all tiles for the block of `n` samples that begins with row `start`. Requires a plan for
    /// AVX2 or AVX-512.
    pub(super) fn store_tiles(&mut self, rows: &mut [f64], start: usize, n: usize) {
        let plan: &Plan = self.plan;
        let stride = plan.n_outputs;
        let whole = n / TILE * TILE;
        let block = &mut rows[start * stride..(start + n) * stride];
        let register = |j: Option<u32>| j.and_then(|j| plan.code.outputs[j as usize].src);
        let lanes: Vec<[Lanes; 8]> =
            plan.output_tiles.iter().map(|tile| tile.outputs.map(|j| self.lanes(register(j)))).collect();
        let strip = strip(stride);
        let wide = plan.set >= InstructionSet::Avx512;
        for row in (0..whole).step_by(strip) {
            let count = strip.min(whole - row);
            for (tile, lanes) in plan.output_tiles.iter().zip(&lanes) {
                let first = block[row * stride + tile.column..].as_mut_ptr();
                let lanes = lanes.map(|l| l.from(row));
                // SAFETY: the rows are in `block`, which has all columns; slots have a block of codes; the features of
                // the processor were checked.
                unsafe {
                    match (wide, tile.narrow) {
                        (true, true) => store_narrow(first, stride, count, tile, &lanes),
                        (true, false) => store(first, stride, count, tile, &lanes),
                        (false, _) => tiles_avx2::store(first, stride, count, tile, &lanes),
                    }
                }
            }
        }
        if whole < n {
            for j in plan.output_tiles.iter().flat_map(|t| t.outputs).flatten().map(|j| j as usize) {
                self.store(&mut RealOut(rows), j, &plan.code.outputs[j], start, whole..n);
            }
        }
    }
}

/// Memory of a column of raw integer values.
#[derive(Clone, Copy)]
pub(super) enum Lanes {
    /// No memory: the column is not converted.
    None,
    B1(*mut i8),
    B2(*mut i16),
    B4(*mut i32),
}

impl Lanes {
    /// Returns the column from sample `row` of the block on.
    fn from(self, row: usize) -> Lanes {
        match self {
            Lanes::None => Lanes::None,
            Lanes::B1(p) => Lanes::B1(p.wrapping_add(row)),
            Lanes::B2(p) => Lanes::B2(p.wrapping_add(row)),
            Lanes::B4(p) => Lanes::B4(p.wrapping_add(row)),
        }
    }

    /// Returns eight raw integer values from `row` on as 32 bits each. Values of 8 and 16 bits are extended by zeros
    /// (`zero`) or by their signs; a missing lane returns zeros.
    ///
    /// # Safety
    /// The column has eight raw integer values from `row` on, and the processor has AVX2.
    #[target_feature(enable = "avx2")]
    #[inline]
    pub(super) unsafe fn codes(self, row: usize, zero: bool) -> __m256i {
        // SAFETY: the caller's promise.
        unsafe {
            match self {
                Lanes::None => _mm256_setzero_si256(),
                Lanes::B1(from) => {
                    let bytes = _mm_loadl_epi64(from.add(row).cast());
                    if zero { _mm256_cvtepu8_epi32(bytes) } else { _mm256_cvtepi8_epi32(bytes) }
                }
                Lanes::B2(from) => {
                    let words = _mm_loadu_si128(from.add(row).cast());
                    if zero { _mm256_cvtepu16_epi32(words) } else { _mm256_cvtepi16_epi32(words) }
                }
                Lanes::B4(from) => _mm256_loadu_si256(from.add(row).cast()),
            }
        }
    }

    /// Like [`Lanes::codes`], with 16 bits for each value, for lanes of at most 16 bits; other lanes return zeros.
    ///
    /// # Safety
    /// As [`Lanes::codes`].
    #[target_feature(enable = "avx2")]
    #[inline]
    pub(super) unsafe fn words(self, row: usize, zero: bool) -> __m128i {
        // SAFETY: the caller's promise.
        unsafe {
            match self {
                Lanes::B1(from) => {
                    let bytes = _mm_loadl_epi64(from.add(row).cast());
                    if zero { _mm_cvtepu8_epi16(bytes) } else { _mm_cvtepi8_epi16(bytes) }
                }
                Lanes::B2(from) => _mm_loadu_si128(from.add(row).cast()),
                Lanes::None | Lanes::B4(_) => _mm_setzero_si128(),
            }
        }
    }
}

/// Transposes 8 rows of 8 integers.
#[target_feature(enable = "avx2")]
pub(super) fn turn(r: [__m256i; 8]) -> [__m256i; 8] {
    let mut a = r;
    for k in 0..4 {
        a[2 * k] = _mm256_unpacklo_epi32(r[2 * k], r[2 * k + 1]);
        a[2 * k + 1] = _mm256_unpackhi_epi32(r[2 * k], r[2 * k + 1]);
    }
    let mut b = a;
    for k in [0, 4] {
        b[k] = _mm256_unpacklo_epi64(a[k], a[k + 2]);
        b[k + 1] = _mm256_unpackhi_epi64(a[k], a[k + 2]);
        b[k + 2] = _mm256_unpacklo_epi64(a[k + 1], a[k + 3]);
        b[k + 3] = _mm256_unpackhi_epi64(a[k + 1], a[k + 3]);
    }
    let mut c = b;
    for k in 0..4 {
        c[k] = _mm256_permute2x128_si256::<0x20>(b[k], b[k + 4]);
        c[k + 4] = _mm256_permute2x128_si256::<0x31>(b[k], b[k + 4]);
    }
    c
}

/// Returns eight rows of eight integers before wrapping, from `first` on; updates the minimum of each column in
/// `least`.
///
/// # Safety
/// `first` begins eight rows of `stride` doubles. Only the columns in the bit mask `present` are read.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq")]
#[inline]
unsafe fn floors(first: *const f64, stride: usize, present: u8, scale: __m512d, least: &mut __m256i) -> [__m256i; 8] {
    let mut rows = [_mm256_setzero_si256(); 8];
    for (k, r) in rows.iter_mut().enumerate() {
        // SAFETY: row and columns are within the bounds that the caller guarantees; other columns are not accessed.
        let x = unsafe { _mm512_maskz_loadu_pd(present, first.add(k * stride)) };
        *r = _mm512_cvt_roundpd_epi32::<DOWN>(_mm512_mul_round_pd::<DOWN>(x, scale));
        *least = _mm256_min_epi32(*least, *r);
    }
    rows
}

/// Returns a bit mask of the columns with a number that [`floors`] could not convert.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq")]
fn odd_columns(least: __m256i) -> u8 {
    _mm256_cmpeq_epi32_mask(least, _mm256_set1_epi32(i32::MIN))
}

/// Converts `rows` rows (a multiple of [`TILE`]) of `stride` doubles from `first` on, and stores them to `lanes`.
/// Returns a mask of the columns of the tile with a number that needs the slow path.
///
/// # Safety
/// `first` begins `rows` rows of `stride` doubles, of which the tile's columns are read; each of `lanes` has room for
/// `rows` codes. The processor has AVX-512 (F, BW, DQ, VL).
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq")]
unsafe fn load(first: *const f64, stride: usize, rows: usize, tile: &InputTile, lanes: &[Lanes; 8]) -> u8 {
    let present = (0xffu16 >> (8 - tile.count)) as u8;
    // SAFETY: arrays of eight.
    let (scale, sign, mask) = unsafe {
        (
            _mm512_loadu_pd(tile.scale.as_ptr()),
            _mm256_loadu_si256(tile.sign.as_ptr().cast()),
            _mm256_loadu_si256(tile.mask.as_ptr().cast()),
        )
    };
    let mut least = _mm256_setzero_si256();
    for row in (0..rows).step_by(TILE) {
        // SAFETY: the caller's promise.
        let mut codes = unsafe { floors(first.add(row * stride), stride, present, scale, &mut least) };
        for c in &mut codes {
            *c = _mm256_and_si256(_mm256_srav_epi32(_mm256_sllv_epi32(*c, sign), sign), mask);
        }
        for (column, lane) in turn(codes).into_iter().zip(lanes) {
            // SAFETY: there is room for `rows` codes.
            unsafe {
                match *lane {
                    Lanes::None => {}
                    Lanes::B1(to) => _mm_storel_epi64(to.add(row).cast(), _mm256_cvtepi32_epi8(column)),
                    Lanes::B2(to) => _mm_storeu_si128(to.add(row).cast(), _mm256_cvtepi32_epi16(column)),
                    Lanes::B4(to) => _mm256_storeu_si256(to.add(row).cast(), column),
                }
            }
        }
    }
    odd_columns(least)
}

/// Eight columns of eight words, four columns in each vector.
type Words = [__m512i; 2];

/// Returns eight words for each column `c`, all equal to `of(c)`.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq")]
fn words(of: impl Fn(usize) -> i16) -> Words {
    let mut all = [0i16; 64];
    all.iter_mut().enumerate().for_each(|(k, w)| *w = of(k / 8));
    // SAFETY: sixty-four words are two vectors.
    unsafe { [_mm512_loadu_si512(all.as_ptr().cast()), _mm512_loadu_si512(all.as_ptr().add(32).cast())] }
}

/// Like [`load`], for lanes of at most 16 bits: pairs of rows are transposed together.
///
/// # Safety
/// As [`load`].
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq")]
unsafe fn load_narrow(first: *const f64, stride: usize, rows: usize, tile: &InputTile, lanes: &[Lanes; 8]) -> u8 {
    let present = (0xffu16 >> (8 - tile.count)) as u8;
    // SAFETY: an array of eight.
    let scale = unsafe { _mm512_loadu_pd(tile.scale.as_ptr()) };
    let sign = words(|c| (tile.sign[c] - 16).max(0) as i16);
    let mask = words(|c| tile.mask[c] as i16);
    // Doubleword `8 * (k mod 2) + c` of vector `k / 2` is column c of rows 2k and 2k + 1; the index of a doubleword of
    // the second vector is 16 more.
    let near = _mm512_setr_epi32(0, 8, 16, 24, 1, 9, 17, 25, 2, 10, 18, 26, 3, 11, 19, 27);
    let far = _mm512_add_epi32(near, _mm512_set1_epi32(4));
    let low_bytes = _mm_setr_epi8(0, 2, 4, 6, 8, 10, 12, 14, -1, -1, -1, -1, -1, -1, -1, -1);
    let mut least = _mm256_setzero_si256();
    for row in (0..rows).step_by(TILE) {
        // SAFETY: the caller's promise.
        let r = unsafe { floors(first.add(row * stride), stride, present, scale, &mut least) };
        let pair = |k: usize| _mm256_mask_blend_epi16(0xaaaa, r[2 * k], _mm256_slli_epi32::<16>(r[2 * k + 1]));
        let both = |k: usize| _mm512_inserti64x4::<1>(_mm512_castsi256_si512(pair(k)), pair(k + 1));
        let (a, b) = (both(0), both(2));
        for (half, order) in [near, far].into_iter().enumerate() {
            let codes = _mm512_permutex2var_epi32(a, order, b);
            let codes = _mm512_srav_epi16(_mm512_sllv_epi16(codes, sign[half]), sign[half]);
            let codes = _mm512_and_si512(codes, mask[half]);
            let columns = [
                _mm512_castsi512_si128(codes),
                _mm512_extracti32x4_epi32::<1>(codes),
                _mm512_extracti32x4_epi32::<2>(codes),
                _mm512_extracti32x4_epi32::<3>(codes),
            ];
            for (column, lane) in columns.into_iter().zip(&lanes[4 * half..]) {
                // SAFETY: there is room for `rows` codes.
                unsafe {
                    match *lane {
                        Lanes::B1(to) => _mm_storel_epi64(to.add(row).cast(), _mm_shuffle_epi8(column, low_bytes)),
                        Lanes::B2(to) => _mm_storeu_si128(to.add(row).cast(), column),
                        Lanes::None | Lanes::B4(_) => {}
                    }
                }
            }
        }
    }
    odd_columns(least)
}

/// Returns the columns of a tile that are written, as a bit mask.
pub(super) fn written(tile: &OutputTile) -> u8 {
    tile.outputs.iter().enumerate().fold(0, |m, (k, out)| m | u8::from(out.is_some()) << k)
}

/// Reverse of [`load`]: multiplies the integers of `lanes` by the scale of their column, and stores them to the tile's
/// columns of rows of `stride` doubles. Columns of 8 or 16 bits with `zero` are zero-extended.
///
/// # Safety
/// As [`load`], but `first` is written and the lanes are read.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq")]
unsafe fn store(first: *mut f64, stride: usize, rows: usize, tile: &OutputTile, lanes: &[Lanes; 8]) {
    let wanted = written(tile);
    // SAFETY: an array of eight.
    let scale = unsafe { _mm512_loadu_pd(tile.scale.as_ptr()) };
    for row in (0..rows).step_by(TILE) {
        let mut columns = [_mm256_setzero_si256(); 8];
        for ((c, lane), &zero) in columns.iter_mut().zip(lanes).zip(&tile.zero) {
            // SAFETY: there are `rows` codes.
            *c = unsafe { lane.codes(row, zero) };
        }
        for (k, codes) in turn(columns).into_iter().enumerate() {
            let reals = _mm512_mul_pd(_mm512_cvtepi32_pd(codes), scale);
            // SAFETY: row and columns are within the bounds that the caller guarantees; other columns are not accessed.
            unsafe { _mm512_mask_storeu_pd(first.add((row + k) * stride), wanted, reals) };
        }
    }
}

/// Like [`store`], for lanes of at most 16 bits: pairs of rows are transposed together.
///
/// # Safety
/// As [`store`].
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq")]
unsafe fn store_narrow(first: *mut f64, stride: usize, rows: usize, tile: &OutputTile, lanes: &[Lanes; 8]) {
    let wanted = written(tile);
    // SAFETY: an array of eight.
    let scale = unsafe { _mm512_loadu_pd(tile.scale.as_ptr()) };
    let mut keep = [-1i32; 16];
    keep.iter_mut().enumerate().filter(|(k, _)| tile.zero[k % 8]).for_each(|(_, m)| *m = 0xffff);
    // SAFETY: an array of sixteen.
    let keep = unsafe { _mm512_loadu_si512(keep.as_ptr().cast()) };
    // Doubleword `4c + j` of the two vectors together is rows 2j and 2j + 1 of column c.
    let first_rows = _mm512_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28, 1, 5, 9, 13, 17, 21, 25, 29);
    let last_rows = _mm512_add_epi32(first_rows, _mm512_set1_epi32(2));
    for row in (0..rows).step_by(TILE) {
        let mut columns = [_mm_setzero_si128(); 8];
        for ((c, lane), &zero) in columns.iter_mut().zip(lanes).zip(&tile.zero) {
            // SAFETY: there are `rows` codes.
            *c = unsafe { lane.words(row, zero) };
        }
        let join = |a: __m128i, b: __m128i| _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(a), b);
        let four = |k: usize| {
            let (low, high) = (join(columns[k], columns[k + 1]), join(columns[k + 2], columns[k + 3]));
            _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high)
        };
        let (near, far) = (four(0), four(4));
        for (half, order) in [first_rows, last_rows].into_iter().enumerate() {
            let pairs = _mm512_permutex2var_epi32(near, order, far);
            let even = _mm512_and_si512(_mm512_srai_epi32::<16>(_mm512_slli_epi32::<16>(pairs)), keep);
            let odd = _mm512_and_si512(_mm512_srai_epi32::<16>(pairs), keep);
            let codes = [
                _mm512_castsi512_si256(even),
                _mm512_castsi512_si256(odd),
                _mm512_extracti64x4_epi64::<1>(even),
                _mm512_extracti64x4_epi64::<1>(odd),
            ];
            for (k, codes) in codes.into_iter().enumerate() {
                let reals = _mm512_mul_pd(_mm512_cvtepi32_pd(codes), scale);
                // SAFETY: row and columns are within the bounds that the caller guarantees; other columns are not
                // accessed.
                unsafe { _mm512_mask_storeu_pd(first.add((row + 4 * half + k) * stride), wanted, reals) };
            }
        }
    }
}
