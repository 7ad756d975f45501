//! Rows of doubles to columns of codes and back, eight by eight, for AVX-512.
//!
//! Samples come as rows and lanes are columns. One number at a time, that change of direction costs more than the
//! programs themselves; here a tile of eight rows and eight columns is converted in vectors and turned by the usual 24
//! shuffles. The plain twins are `load` and `store` of [`super::kernels`], which also do what is left at the edges.

use std::arch::x86_64::*;

/// How one column of a tile becomes codes; all columns of a tile together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Columns {
    /// Powers of two that the numbers are multiplied with; 0 for columns that are left out.
    pub(super) scale: [f64; 8],
    /// Distance of the two shifts that extend the sign bit of each type; 0 for none.
    pub(super) sign: [i32; 8],
    /// Bits to keep of unsigned types; all for others.
    pub(super) mask: [i32; 8],
}

/// Where a column of codes goes, or comes from.
#[derive(Clone, Copy)]
pub(super) enum Lanes {
    /// Nowhere.
    None,
    B1(*mut i8),
    B2(*mut i16),
    B4(*mut i32),
}

/// Rows of a tile.
pub(super) const TILE: usize = 8;

/// Turns 8 rows of 8 integers into 8 columns.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq")]
fn turn(r: [__m256i; 8]) -> [__m256i; 8] {
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

/// Codes of `rows` (a multiple of [`TILE`]) rows of `stride` doubles from `first` on, up to eight columns of them, to
/// `lanes`. Returns for each column whether a number needs the slow road; see `load` in [`super::kernels`] for the
/// arithmetic.
///
/// # Safety
/// `first` begins `rows` rows of `stride` doubles of which `count` columns (at most 8) are read; each of `lanes` has room
/// for `rows` codes. The processor has AVX-512 (F, BW, DQ, VL).
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq")]
pub(super) unsafe fn load(
    first: *const f64,
    stride: usize,
    rows: usize,
    count: usize,
    columns: &Columns,
    lanes: &[Lanes; 8],
) -> u8 {
    let present = (0xffu16 >> (8 - count)) as u8;
    // SAFETY: arrays of eight.
    let (scale, sign, mask) = unsafe {
        (
            _mm512_loadu_pd(columns.scale.as_ptr()),
            _mm256_loadu_si256(columns.sign.as_ptr().cast()),
            _mm256_loadu_si256(columns.mask.as_ptr().cast()),
        )
    };
    let magic = _mm512_set1_pd(6_755_399_441_055_744.0);
    let limit = _mm512_set1_pd(2_251_799_813_685_248.0);
    let zero = _mm512_setzero_pd();
    let one = _mm512_set1_epi64(1);
    let mut odd = 0u8;
    for row in (0..rows).step_by(TILE) {
        let mut tile = [_mm256_setzero_si256(); 8];
        for (k, t) in tile.iter_mut().enumerate() {
            // SAFETY: row and columns are within what the caller promised; columns beyond `count` are not touched.
            let x = unsafe { _mm512_maskz_loadu_pd(present, first.add((row + k) * stride)) };
            let y = _mm512_mul_pd(x, scale);
            let sum = _mm512_add_pd(y, magic);
            let nearest = _mm512_sub_pd(sum, magic);
            let above = _mm512_cmp_pd_mask::<_CMP_GT_OQ>(nearest, y);
            let code = _mm512_mask_sub_epi64(_mm512_castpd_si512(sum), above, _mm512_castpd_si512(sum), one);
            odd |= _mm512_cmp_pd_mask::<_CMP_NLT_UQ>(_mm512_abs_pd(y), limit);
            let gone = _mm512_cmp_pd_mask::<_CMP_EQ_OQ>(y, zero);
            odd |= _mm512_mask_cmp_pd_mask::<_CMP_NEQ_UQ>(gone, x, zero);
            let code = _mm512_cvtepi64_epi32(code);
            let code = _mm256_srav_epi32(_mm256_sllv_epi32(code, sign), sign);
            *t = _mm256_and_si256(code, mask);
        }
        for (column, lane) in turn(tile).into_iter().zip(lanes) {
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
    odd & present
}

/// The reverse: codes of `lanes`, read as unsigned where `zero` says so (not those of 32 bits), times `scale` into
/// `count` columns of rows of `stride` doubles.
///
/// # Safety
/// As [`load`], `first` being written and the lanes read.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq")]
pub(super) unsafe fn store(
    first: *mut f64,
    stride: usize,
    rows: usize,
    count: usize,
    scale: &[f64; 8],
    zero: &[bool; 8],
    lanes: &[Lanes; 8],
) {
    let present = (0xffu16 >> (8 - count)) as u8;
    let wanted = present & (0..8).fold(0, |m, k| m | u8::from(!matches!(lanes[k], Lanes::None)) << k);
    // SAFETY: an array of eight.
    let scale = unsafe { _mm512_loadu_pd(scale.as_ptr()) };
    for row in (0..rows).step_by(TILE) {
        let mut tile = [_mm256_setzero_si256(); 8];
        for ((t, lane), &zero) in tile.iter_mut().zip(lanes).zip(zero) {
            // SAFETY: there are `rows` codes.
            *t = unsafe {
                match *lane {
                    Lanes::None => continue,
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
            };
        }
        for (k, codes) in turn(tile).into_iter().enumerate() {
            let reals = _mm512_mul_pd(_mm512_cvtepi32_pd(codes), scale);
            // SAFETY: row and columns are within what the caller promised; others are not touched.
            unsafe { _mm512_mask_storeu_pd(first.add((row + k) * stride), wanted, reals) };
        }
    }
}
