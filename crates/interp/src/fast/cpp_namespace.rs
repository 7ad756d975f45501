//! Namespaces of C++ headers: names that compile after any headers of C, C++ and POSIX.
//!
//! A namespace shares the global scope with the functions, types and variables of the C library, and macros replace a
//! name in any scope. The lists in `cpp_words/` contain names that cannot be namespaces: each name in the headers of
//! the GNU C library and of libstdc++ that is a macro or that g++ or clang++ rejects as a namespace, and names of the
//! BSD, Windows and macOS libraries. The test `hdl_tests/cpp_names.rs` compares the lists with the headers of the
//! computer on which the test runs.

use rustc_hash::FxHashSet;
use std::sync::OnceLock;

/// Parses the value of `--namespace`, which is used exactly as given or rejected.
///
/// # Errors
/// The reason, and a name that works.
pub fn parse(text: &str) -> Result<String, String> {
    let parts: Vec<&str> = text.split("::").collect();
    let problem = parts.iter().enumerate().find_map(|(depth, name)| Some((depth, problem(name, depth == 0)?)));
    let Some((depth, problem)) = problem else { return Ok(text.to_owned()) };
    let mut better: Vec<String> = parts.iter().map(|&part| part.to_owned()).collect();
    better[depth] = safe_name(parts[depth], depth == 0);
    Err(format!("{problem}; `{}` would work", better.join("::").escape_debug()))
}

/// Returns a namespace that compiles for the stem of a file name, and a sentence about it if it differs from the stem.
pub fn from_stem(stem: &str) -> (String, Option<String>) {
    let Some(problem) = problem(stem, true) else { return (stem.to_owned(), None) };
    let name = safe_name(stem, true);
    let change = format!("the namespace of the C++ header is `{name}`: {problem}");
    (name, Some(change))
}

/// Returns why `name` cannot be a namespace, or `None` if it can; `is_outermost` for a name in the global scope.
pub fn problem(name: &str, is_outermost: bool) -> Option<String> {
    let shown = name.escape_debug();
    let is_identifier = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !name.contains("__");
    let reason = if !is_identifier {
        return Some(format!(
            "`{shown}` is not an identifier of C++ that users may choose (letters, digits and single underscores, a \
             letter first)"
        ));
    } else if KEYWORDS.contains(&name) {
        "is a keyword of C++"
    } else if name == "std" || is_outermost && (name == "posix" || is_future_std(name)) {
        "is a namespace that the C++ standard reserves"
    } else if is_macro(name) {
        "is a macro of the system's headers"
    } else if is_outermost && words(&GLOBALS, include_str!("cpp_words/globals.txt")).contains(name) {
        "is a function, type or variable of the C library"
    } else {
        return None;
    };
    Some(format!("`{shown}` {reason}"))
}

/// Returns a name near `name` that can be a namespace: other characters become underscores, and a prefix `model_` is
/// added where that is not enough.
fn safe_name(name: &str, is_outermost: bool) -> String {
    let mut plain = String::new();
    for c in name.chars() {
        let c = if c.is_ascii_alphanumeric() { c } else { '_' };
        if !(c == '_' && (plain.is_empty() || plain.ends_with('_'))) {
            plain.push(c);
        }
    }
    match problem(&plain, is_outermost) {
        None => plain,
        Some(_) => format!("model_{plain}").trim_end_matches('_').to_owned(),
    }
}

/// Returns `true` for `std` followed by digits, which the standard reserves for later versions of its library.
fn is_future_std(name: &str) -> bool {
    name.strip_prefix("std").is_some_and(|digits| digits.bytes().all(|b| b.is_ascii_digit()))
}

fn is_macro(name: &str) -> bool {
    let in_family = || {
        let is_upper = !name.bytes().any(|b| b.is_ascii_lowercase());
        name.starts_with("SYS_") || is_upper && MACRO_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
    };
    words(&MACROS, include_str!("cpp_words/macros.txt")).contains(name) || in_family()
}

static MACROS: OnceLock<FxHashSet<&'static str>> = OnceLock::new();
static GLOBALS: OnceLock<FxHashSet<&'static str>> = OnceLock::new();

fn words(list: &'static OnceLock<FxHashSet<&'static str>>, text: &'static str) -> &'static FxHashSet<&'static str> {
    list.get_or_init(|| text.split_whitespace().collect())
}

/// Prefixes of macros without lower-case letters that POSIX or the GNU C library reserve.
const MACRO_PREFIXES: &[&str] = &[
    "AF_",
    "AI_",
    "ATOMIC_",
    "AT_",
    "CLOCK_",
    "CLONE_",
    "DT_",
    "EAI_",
    "FE_",
    "FNM_",
    "FPE_",
    "FP_",
    "FSCONFIG_",
    "FTW_",
    "GLOB_",
    "IFF_",
    "ILL_",
    "IN6_",
    "INADDR_",
    "INT_",
    "IN_",
    "IPC_",
    "IPPORT_",
    "IPPROTO_",
    "IPV6_",
    "IP_",
    "LC_",
    "LOCK_",
    "LOG_",
    "MADV_",
    "MAP_",
    "MCAST_",
    "MOUNT_",
    "MSG_",
    "MS_",
    "NI_",
    "NL_",
    "PF_",
    "PR_",
    "PTHREAD_",
    "PTRACE_",
    "REG_",
    "RES_",
    "RLIMIT_",
    "RTLD_",
    "SA_",
    "SCHED_",
    "SCM_",
    "SEGV_",
    "SHM_",
    "SI_",
    "SOL_",
    "SO_",
    "STATX_",
    "ST_",
    "TCP_",
    "WRDE_",
];

/// Keywords of C++98 to C++26, and `typeof` of GNU C++; `import` and `module` are keywords at the start of a line.
const KEYWORDS: &[&str] = &[
    "alignas",
    "alignof",
    "and",
    "and_eq",
    "asm",
    "auto",
    "bitand",
    "bitor",
    "bool",
    "break",
    "case",
    "catch",
    "char",
    "char8_t",
    "char16_t",
    "char32_t",
    "class",
    "compl",
    "concept",
    "const",
    "consteval",
    "constexpr",
    "constinit",
    "const_cast",
    "continue",
    "co_await",
    "co_return",
    "co_yield",
    "decltype",
    "default",
    "delete",
    "do",
    "double",
    "dynamic_cast",
    "else",
    "enum",
    "explicit",
    "export",
    "extern",
    "false",
    "float",
    "for",
    "friend",
    "goto",
    "if",
    "inline",
    "int",
    "long",
    "mutable",
    "namespace",
    "new",
    "noexcept",
    "not",
    "not_eq",
    "nullptr",
    "operator",
    "or",
    "or_eq",
    "private",
    "protected",
    "public",
    "register",
    "reinterpret_cast",
    "requires",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "static_assert",
    "static_cast",
    "struct",
    "switch",
    "template",
    "this",
    "thread_local",
    "throw",
    "true",
    "try",
    "typedef",
    "typeid",
    "typename",
    "union",
    "unsigned",
    "using",
    "virtual",
    "void",
    "volatile",
    "wchar_t",
    "while",
    "xor",
    "xor_eq",
    "import",
    "module",
    "contract_assert",
    "typeof",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_namespace_is_used_as_given_or_refused_with_one_that_works() {
        for good in ["jet", "a::b", "JET", "a::time", "x_t", "a_"] {
            assert_eq!(parse(good), Ok(good.to_owned()));
        }
        for bad in [
            "time",
            "tanh",
            "index",
            "abs",
            "clock",
            "exp",
            "log",
            "y1",
            "div",
            "select",
            "remove",
            "read",
            "send",
            "NULL",
            "EOF",
            "I",
            "a::NULL",
            "a::I",
            "std",
            "a::std",
            "std2",
            "posix",
            "linux",
            "SIGINT",
            "SO_ANYTHING",
            "main",
            "class",
            "co_await",
            "tm",
            "",
            "a::",
            "::a",
            "1a",
            "_a",
            "a__b",
            "a b",
            "é",
            "a\nb",
        ] {
            let reason = parse(bad).unwrap_err();
            let better = reason.rsplit('`').nth(1).unwrap();
            assert_eq!(parse(better), Ok(better.to_owned()), "{bad:?}: {reason}");
            assert!(!reason.contains('\n'), "{reason}");
        }
    }

    #[test]
    fn a_namespace_of_a_file_name_is_safe_and_a_change_is_reported() {
        assert_eq!(from_stem("jet"), ("jet".into(), None));
        for (stem, name) in
            [("time", "model_time"), ("my-model", "my_model"), ("NULL", "model_NULL"), ("é", "model"), ("1", "model_1")]
        {
            let (found, change) = from_stem(stem);
            assert_eq!(found, name);
            assert!(change.is_some_and(|change| change.contains(&format!("`{name}`"))));
            assert_eq!(problem(name, true), None);
        }
    }
}
