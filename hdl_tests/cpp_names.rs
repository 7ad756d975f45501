//! Namespaces of C++ headers together with all headers of C, C++ and POSIX: what `interp::cpp_namespace` accepts
//! compiles, a changed name compiles, and the lists refuse what a compiler refuses.

use crate::harness::{read_model, skip};
use alir2hdl::interp::{cpp_header, cpp_namespace};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

/// Headers of the C and C++ libraries and of POSIX, each included if the machine has it.
const HEADERS: &str = "cassert bits/stdc++.h cmath cstdlib ctime cstring csignal aio.h arpa/inet.h complex.h cpio.h \
                       dirent.h \
    dlfcn.h err.h fcntl.h fenv.h fmtmsg.h fnmatch.h ftw.h getopt.h glob.h grp.h iconv.h ifaddrs.h inttypes.h \
    langinfo.h \
    libgen.h malloc.h math.h monetary.h mqueue.h net/if.h netdb.h netinet/in.h netinet/tcp.h nl_types.h poll.h \
    pthread.h \
    pty.h pwd.h regex.h sched.h search.h semaphore.h setjmp.h signal.h spawn.h string.h strings.h sys/epoll.h \
    sys/file.h \
    sys/ioctl.h sys/ipc.h sys/mman.h sys/mount.h sys/msg.h sys/param.h sys/random.h sys/resource.h sys/select.h \
    sys/sem.h \
    sys/shm.h sys/socket.h sys/stat.h sys/statvfs.h sys/syscall.h sys/sysinfo.h sys/sysmacros.h sys/time.h \
    sys/timerfd.h \
    sys/times.h sys/types.h sys/uio.h sys/un.h sys/utsname.h sys/wait.h sys/xattr.h syslog.h tar.h termios.h time.h \
    unistd.h utime.h utmpx.h wchar.h wctype.h wordexp.h";

fn includes() -> String {
    HEADERS.split_whitespace().map(|h| format!("#if __has_include(<{h}>)\n#include <{h}>\n#endif\n")).collect()
}

/// Runs a compiler over `text` and returns what it prints; `None` if the compiler is missing.
fn compile(compiler: &str, arguments: &[&str], folder: &Path, text: &str) -> Option<(bool, String, String)> {
    std::fs::write(folder.join("x.cpp"), text).unwrap();
    let out = Command::new(compiler).args(["-std=gnu++17"]).args(arguments).arg("x.cpp").current_dir(folder).output();
    let Ok(out) = out else {
        skip(compiler, "not on the PATH");
        return None;
    };
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Some((out.status.success(), text(out.stdout), text(out.stderr)))
}

/// Every identifier and every macro in the headers.
fn names_in_headers(compiler: &str, folder: &Path) -> Option<(BTreeSet<String>, BTreeSet<String>)> {
    let (ok, text, said) = compile(compiler, &["-E", "-P"], folder, &includes())?;
    assert!(ok, "{said}");
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let words = text.split(|c| !is_word(c)).filter(|w| w.starts_with(|c: char| c.is_ascii_alphabetic()));
    let (ok, macros, said) = compile(compiler, &["-E", "-dM"], folder, &includes())?;
    assert!(ok, "{said}");
    let macros = macros.lines().filter_map(|line| line.split([' ', '(']).nth(1));
    let macros = macros.filter(|name| name.starts_with(|c: char| c.is_ascii_alphabetic()));
    Some((words.map(str::to_owned).collect(), macros.map(str::to_owned).collect()))
}

/// All names of the headers, refused or accepted: one translation unit for each compiler.
#[test]
fn sim_every_namespace_compiles_beside_all_headers() {
    let dir = tempfile::tempdir().unwrap();
    for compiler in ["g++", "clang++"] {
        let Some((words, macros)) = names_in_headers(compiler, dir.path()) else { continue };
        let missing: Vec<_> = macros.iter().filter(|name| cpp_namespace::problem(name, false).is_none()).collect();
        assert!(missing.is_empty(), "macros that are accepted: {missing:?}");
        // A file of each name gives a namespace that compiles, be it the name itself or a changed one.
        let all: BTreeSet<&str> = words.iter().chain(&macros).map(String::as_str).collect();
        let refused = all.iter().filter(|name| cpp_namespace::problem(name, true).is_some()).count();
        assert!(refused > 3000 && all.len() - refused > 1000, "{refused} of {}", all.len());
        let names: BTreeSet<String> = all.iter().map(|name| cpp_namespace::from_stem(name).0).collect();
        let mut text = includes();
        for name in &names {
            let _ = writeln!(
                text,
                "namespace {name} {{ class one_model_per_namespace {{}}; inline namespace h {{ namespace detail {{}} \
                 inline void run() {{}} }} }}"
            );
        }
        let (ok, _, said) = compile(compiler, &["-fsyntax-only"], dir.path(), &text).unwrap();
        assert!(
            ok,
            "{compiler}: {}",
            said.lines().filter(|l| l.contains("error")).take(20).collect::<Vec<_>>().join("\n")
        );
    }
}

/// The names that the headers of `<cmath>`, `<cstdlib>`, `<ctime>`, `<cstring>`, `<csignal>` and POSIX declare for
/// users are refused by g++ too: the lists hold no name for nothing. (clang++ accepts the functions of <cmath> that are
/// overloaded.)
#[test]
fn sim_names_that_are_refused_do_not_compile() {
    let dir = tempfile::tempdir().unwrap();
    let names = "time tanh index abs clock exp log y1 div select remove read send NULL EOF I tm errno stdin signal \
                 raise \
        sigaction strlen memcpy qsort rand getenv system exit atexit malloc free sin cos fabs hypot lgamma ldexp modf \
        difftime mktime strftime localtime open close write fork pipe kill link access alarm pause sleep stat poll \
        bind \
        listen accept connect socket printf fopen FILE div_t ldiv_t size_t class namespace co_await linux std";
    let names: Vec<&str> = names.split_whitespace().filter(|&n| n != "co_await" && n != "std").collect();
    for compiler in ["g++"] {
        let mut text = includes();
        for (k, name) in names.iter().enumerate() {
            assert!(cpp_namespace::parse(name).is_err(), "{name}");
            let _ = writeln!(text, "#line {} \"names\"\nnamespace {name} {{ class inside {{}}; }}", 1000 + k);
        }
        let Some((_, _, said)) = compile(compiler, &["-fsyntax-only", "-fmax-errors=0"], dir.path(), &text) else {
            continue;
        };
        let compiled: Vec<_> = (0..names.len()).filter(|k| !said.contains(&format!("names:{}:", 1000 + k))).collect();
        assert!(compiled.is_empty(), "{compiler} takes {:?}", compiled.iter().map(|&k| names[k]).collect::<Vec<_>>());
    }
}

/// Whole headers after all others, and names whose include guards used to be one.
#[test]
fn sim_headers_with_similar_names_are_all_read() {
    let dir = tempfile::tempdir().unwrap();
    let names = ["Jet", "jet", "a::b", "A::B", "a_b", "model_time", "time_2", "x::time"];
    let models = [read_model("tiny_ops"), read_model("lut_heavy")];
    let mut text = includes();
    for (k, name) in names.iter().enumerate() {
        std::fs::write(dir.path().join(format!("{k}.hpp")), cpp_header(&models[k % 2], name, &[])).unwrap();
        let _ = writeln!(text, "#include \"{k}.hpp\"\n#include \"{k}.hpp\"");
    }
    for (k, name) in names.iter().enumerate() {
        let inputs = models[k % 2].n_inputs();
        let _ = writeln!(
            text,
            "static_assert({name}::inputs == {inputs}, \"\");\nvoid use{k}(const double* x, double* y) {{ \
             {name}::run(x, y); }}"
        );
    }
    let twice = format!("#include \"0.hpp\"\n{}", cpp_header(&models[1], names[0], &[]));
    for compiler in ["g++", "clang++"] {
        let strict = ["-fsyntax-only", "-Wall", "-Wextra", "-Werror"];
        let Some((ok, _, said)) = compile(compiler, &strict, dir.path(), &text) else { continue };
        assert!(ok, "{compiler}: {said}");
        let (ok, _, said) = compile(compiler, &["-fsyntax-only"], dir.path(), &twice).unwrap();
        assert!(!ok && said.contains("one_model_per_namespace"), "{compiler}: {said}");
    }
}

/// Two models of one namespace in two translation units keep their own functions.
#[test]
fn sim_models_of_one_namespace_in_two_files_are_not_mixed() {
    let dir = tempfile::tempdir().unwrap();
    for (k, name) in ["tiny_ops", "lut_heavy"].into_iter().enumerate() {
        std::fs::write(dir.path().join(format!("{k}.hpp")), cpp_header(&read_model(name), "m", &[])).unwrap();
        let part = format!("#include \"{k}.hpp\"\nvoid* f{k}() {{ return reinterpret_cast<void*>(&m::run); }}\n");
        std::fs::write(dir.path().join(format!("{k}.cpp")), part).unwrap();
    }
    let text = "void* f0(); void* f1();\nint main() { return f0() == f1(); }\n";
    for compiler in ["g++", "clang++"] {
        let Some((ok, _, said)) = compile(compiler, &["-O0", "0.cpp", "1.cpp", "-o", "main"], dir.path(), text) else {
            continue;
        };
        assert!(ok, "{compiler}: {said}");
        assert!(Command::new(dir.path().join("main")).status().unwrap().success(), "{compiler}");
    }
}
