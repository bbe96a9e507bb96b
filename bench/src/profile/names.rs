//! Whose address it is: the function of a process or of the kernel, and which kind of work that does.

use blazesym::MaybeDefault;

use blazesym::symbolize::source::{Kernel, Process, Source};
use blazesym::symbolize::{Input, Symbolized, Symbolizer};

use super::java::Compiled;
use super::places::{NO_CODE, Places};
use crate::BenchError;
use crate::process::Bounds;

/// What a function does, as far as its name tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// Copies between a process and the kernel.
    KernelCopies,
    /// Everything else in the kernel: system calls, the network, waking.
    Kernel,
    /// Copies within a process, and memory that is filled: the C library's `memcpy`, `memset` and their like.
    Copies,
    /// The program and its libraries: marshalling, requests, allocation.
    Program,
}

impl Group {
    /// All, from the wire upwards.
    pub const ALL: [Group; 4] = [Group::KernelCopies, Group::Kernel, Group::Copies, Group::Program];

    /// Its name in rows.
    pub fn name(self) -> &'static str {
        match self {
            Group::KernelCopies => "kernel-copies",
            Group::Kernel => "kernel",
            Group::Copies => "copies",
            Group::Program => "program",
        }
    }
}

/// A function that was being executed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Function {
    /// What it does.
    pub group: Group,
    /// Its name, without parameters; or where it is, if that has no name.
    pub name: String,
}

/// Knows functions by their addresses.
pub(super) struct Names {
    symbolizer: Symbolizer,
}

impl Default for Names {
    fn default() -> Names {
        let symbolizer = Symbolizer::builder().enable_code_info(false).enable_inlined_fns(false).build();
        Names { symbolizer }
    }
}

impl Names {
    /// The functions that addresses of a living process are in, in their order. `bounds` are those of a program that may be
    /// asked for names.
    ///
    /// # Errors
    ///
    /// [`BenchError::Profile`]: the kernel does not tell the names of its functions.
    pub(super) fn of(
        &self,
        process: u32,
        addresses: &[u64],
        bounds: &Bounds,
    ) -> Result<Vec<Function>, BenchError> {
        let kernel = Kernel { vmlinux: MaybeDefault::None, debug_syms: false, ..Kernel::default() };
        let (compiled, places) = (Compiled::by(process, bounds), Places::of(process));
        let mut process = Process::new(process.into());
        (process.debug_syms, process.perf_map) = (false, false);
        let (kernels, processes): (Vec<u64>, Vec<u64>) =
            addresses.iter().partition(|&&address| is_kernels(address));
        let of_kernel = self.symbols(&Source::Kernel(kernel), &kernels);
        if !kernels.is_empty() && of_kernel.iter().all(Option::is_none) {
            let what =
                "the kernel does not tell the names of its functions (/proc/kallsyms; kernel.kptr_restrict)";
            return Err(BenchError::Profile { what: what.to_owned() });
        }
        let mut of_kernel = of_kernel.into_iter();
        let mut of_process = self.symbols(&Source::Process(process), &processes).into_iter();
        let function = |&address: &u64| match is_kernels(address) {
            true => kernels_function(of_kernel.next().flatten()),
            false => {
                let symbol = of_process.next().flatten();
                let symbol = symbol.or_else(|| compiled.name(address).map(str::to_owned));
                processes_function(symbol.unwrap_or_else(|| places.name(address)))
            }
        };
        Ok(addresses.iter().map(function).collect())
    }

    /// The functions of stacks' addresses, as often as a compiler has put one into another several for an address, the outermost first; none where
    /// an address is in no code, since it was no function's. Programs have to tell what was put where (`debug = "line-tables-only"`).
    ///
    /// # Errors
    ///
    /// As for [`Names::of`].
    pub(super) fn frames(
        &self,
        process: u32,
        addresses: &[u64],
        bounds: &Bounds,
    ) -> Result<Vec<Vec<Function>>, BenchError> {
        let functions = self.of(process, addresses, bounds)?;
        let mut source = Process::new(process.into());
        (source.debug_syms, source.perf_map) = (true, false);
        let source = Source::Process(source);
        let inlined = Symbolizer::builder().enable_code_info(true).enable_inlined_fns(true).build();
        let frames = addresses.iter().zip(functions).map(|(&address, function)| {
            if is_kernels(address) {
                return vec![function];
            }
            if function.name == NO_CODE {
                return Vec::new();
            }
            let found = inlined.symbolize_single(&source, Input::AbsAddr(address)).ok();
            let within = found.as_ref().and_then(Symbolized::as_sym).map(|symbol| &symbol.inlined);
            let within =
                within.into_iter().flatten().map(|one| processes_function(one.name.clone().into_owned()));
            std::iter::once(function).chain(within).collect()
        });
        Ok(frames.collect())
    }

    /// The symbol at each address.
    fn symbols(&self, source: &Source, addresses: &[u64]) -> Vec<Option<String>> {
        let name = |symbolized: &Symbolized| Some(symbolized.as_sym()?.name.clone().into_owned());
        match self.symbolizer.symbolize(source, Input::AbsAddr(addresses)) {
            Ok(found) => found.iter().map(name).collect(),
            // One file that cannot be read fails them all: then each by itself. A process that has just ended has none.
            Err(_) => {
                let one = |&address: &u64| {
                    name(&self.symbolizer.symbolize_single(source, Input::AbsAddr(address)).ok()?)
                };
                addresses.iter().map(one).collect()
            }
        }
    }
}

/// The kernel's half of the addresses is the upper one.
fn is_kernels(address: u64) -> bool {
    address >> 63 == 1
}

fn kernels_function(symbol: Option<String>) -> Function {
    let name = symbol.unwrap_or_else(|| "no name".to_owned());
    let copies =
        ["rep_movs", "copy_user", "copy_from_user", "copy_to_user", "_copy_from_iter", "_copy_to_iter"];
    let copies = copies.iter().any(|copy| name.contains(copy));
    Function { group: if copies { Group::KernelCopies } else { Group::Kernel }, name }
}

fn processes_function(symbol: String) -> Function {
    let name = match symbol.as_str() {
        // The linker puts the stubs behind this function, which has no length.
        "_init" => "stubs of calls into libraries".to_owned(),
        symbol => without_parameters(symbol).to_owned(),
    };
    let copies = ["memcpy", "memmove", "memset", "arraycopy"].iter().any(|copy| name.contains(copy));
    Function { group: if copies { Group::Copies } else { Group::Program }, name }
}

/// A name of C++ up to its parameters.
fn without_parameters(name: &str) -> &str {
    let name = name.trim_start_matches("(anonymous namespace)::");
    let end = name.strip_suffix(" const").unwrap_or(name);
    if !end.ends_with(')') {
        return name;
    }
    // The parenthesis that the last one closes: parameters may be functions themselves.
    let mut open = 0_usize;
    for (at, letter) in end.char_indices().rev() {
        match letter {
            ')' => open += 1,
            '(' => open -= 1,
            _ => {}
        }
        if open == 0 {
            // In "operator()" and "StubRoutines (2)" these are none.
            let before = &end[..at];
            return if before.is_empty() || before.ends_with([' ', '=']) || before.ends_with("operator") {
                name
            } else {
                before
            };
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_function_does_is_told_by_its_name() {
        let of_process = |name: &str| {
            let function = processes_function(name.to_owned());
            (function.group, function.name)
        };
        let function = |group, name: &str| (group, name.to_owned());
        assert_eq!(of_process("cdrStream::put(int) const"), function(Group::Program, "cdrStream::put"));
        for (name, short) in [
            ("operator new(unsigned long)", "operator new"),
            ("std::map<a, b>::find(c const&)", "std::map<a, b>::find"),
            ("X::X(void (*)(A*), int)", "X::X"),
            ("X::operator()(int) const", "X::operator()"),
            ("X::operator()", "X::operator()"),
            (")", ")"),
        ] {
            assert_eq!(of_process(name), function(Group::Program, short));
        }
        assert_eq!(of_process("(anonymous namespace)::D::f(int)").1, "D::f");
        assert_eq!(of_process("StubRoutines (2)").1, "StubRoutines (2)");
        assert_eq!(of_process("no name, in libc.so.6").1, "no name, in libc.so.6");
        assert_eq!(of_process("<T as a::B>::c"), function(Group::Program, "<T as a::B>::c"));
        assert_eq!(of_process("jbyte_disjoint_arraycopy").0, Group::Copies);
        assert_eq!(of_process("__memcpy_avx_unaligned_erms").0, Group::Copies);
        assert_eq!(of_process("_init").1, "stubs of calls into libraries");
        for (name, group) in [("_copy_from_iter", Group::KernelCopies), ("tcp_sendmsg", Group::Kernel)] {
            assert_eq!(kernels_function(Some(name.to_owned())).group, group);
        }
    }

    #[test]
    fn this_functions_own_name_is_found() {
        let here = this_functions_own_name_is_found as fn() as *const () as u64;
        let bounds = Bounds::lifetime(std::time::Duration::from_secs(10));
        let functions = Names::default().of(std::process::id(), &[here, 1], &bounds).unwrap();
        assert!(functions[0].name.ends_with("this_functions_own_name_is_found"), "{functions:?}");
        assert_eq!(functions[1].name, "no known code");
    }
}
