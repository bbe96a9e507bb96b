//! From models to the text of one Rust file.

use std::collections::BTreeMap;
use std::rc::Rc;

use proc_macro2::TokenStream;
use quote::quote;
use zorb_idl::Diagnostics;
use zorb_idl::model::{Definition, DefinitionKind, Model};

use crate::choices::Choices;
use crate::docs::doc;
use crate::interface::{callable, interface};
use crate::merge::merge;
use crate::names::ident;
use crate::plan::{Constants, Plan};
use crate::scope::Scope;
use crate::{bits, check, describe, items, union, value};

/// The Rust of several models in one file.
pub(crate) fn generate(
    models: &[Model],
    runtime: &TokenStream,
    externals: &BTreeMap<String, String>,
    choices: &Choices,
    carried: Option<TokenStream>,
) -> Result<String, Vec<Diagnostics>> {
    let mut tree = Tree::default();
    let mut faults = Vec::new();
    let plans: Vec<Plan<'_>> =
        models.iter().map(|it| Plan::new(it, runtime.clone(), externals, choices)).collect();
    let constants = Rc::new(Constants::of(&plans));
    let plans: Vec<Plan<'_>> = plans.into_iter().map(|plan| plan.with_constants(&constants)).collect();
    for plan in &plans {
        let found = check::check(plan);
        if !found.is_empty() {
            faults.push(found);
        }
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    for (plan, definitions) in plans.iter().zip(merge(&plans)?) {
        for id in definitions {
            add(plan, plan.model.definition(id), &mut tree);
        }
    }
    carried.into_iter().for_each(|item| tree.item(item));
    for module in plans.iter().flat_map(|plan| plan.modules_with("rt")) {
        tree.at(module).has_own_rt = true;
    }
    Ok(tree.text(runtime))
}

/// Adds one definition, without those nested in it.
fn add(plan: &Plan<'_>, of: &Definition, tree: &mut Tree) {
    let scope = Scope::of(plan, of.id);
    let item = match &of.kind {
        DefinitionKind::Module(_) => {
            let module = tree.at(&scope.inner(&plan.place_of(of.id).name).module);
            if module.doc.is_empty() {
                module.doc = doc(&of.doc, &items::of_kind(&scope, of, "module"), &[]);
            }
            return;
        }
        DefinitionKind::Interface(it) => return interface(plan, of, it, tree),
        DefinitionKind::Constant(it) => items::constant(&scope, of, it),
        DefinitionKind::Typedef(it) => items::alias(&scope, of, it),
        DefinitionKind::Enum(it) => items::enumeration(&scope, of, it),
        DefinitionKind::Struct(it) => items::structure(&scope, of, &it.members),
        DefinitionKind::Exception(it) => items::exception(&scope, of, &it.members),
        DefinitionKind::Union(it) => union::union(&scope, of, it),
        DefinitionKind::ValueType(it) => value::value_type(&scope, of, it),
        DefinitionKind::ValueBox(it) => value::value_box(&scope, of, it),
        DefinitionKind::Bitmask(it) => bits::bitmask(&scope, of, it),
        DefinitionKind::Bitset(it) => bits::bitset(&scope, of, it),
        DefinitionKind::Native => items::native(&scope, of),
        // A kind of annotation has no values.
        _ => return,
    };
    tree.at(&scope.module).item(item);
    tree.at(&scope.module).item(describe::described(&scope, of));
    if let Some(inner) = &plan.place_of(of.id).inner {
        let place = plan.place_of(of.id);
        let more = if place.value.is_some() { ", and what belongs to its operations" } else { "" };
        let text = format!("Types nested in `{}`{more}.", place.name);
        tree.at(&scope.inner(inner).module).doc = doc("", &text, &[]);
    }
    if let DefinitionKind::ValueType(it) = &of.kind {
        callable(plan, of, it, tree);
    }
}

/// A Rust module: its items, then the modules in it.
///
/// Each item is laid out when it is added and its tokens are dropped, so that memory holds those of one item and not of the whole file: what is
/// allocated is what was just given back, which takes a good part of the time.
#[derive(Default)]
pub(crate) struct Tree {
    pub(crate) doc: TokenStream,
    /// How many modules are around what is in it.
    depth: usize,
    /// The IDL gave the name of the runtime module to something else.
    has_own_rt: bool,
    items: String,
    modules: Vec<(String, Tree)>,
}

impl Tree {
    /// The module at a path, made where it is not there yet.
    pub(crate) fn at(&mut self, path: &[String]) -> &mut Tree {
        let Some((first, rest)) = path.split_first() else { return self };
        let at = match self.modules.iter().position(|(name, _)| name == first) {
            Some(at) => at,
            None => {
                let module = Tree { depth: self.depth + 1, ..Tree::default() };
                self.modules.push((first.clone(), module));
                self.modules.len() - 1
            }
        };
        self.modules[at].1.at(rest)
    }

    pub(crate) fn item(&mut self, item: TokenStream) {
        self.items.push_str(&laid_out(item, self.depth));
    }

    fn is_empty(&self) -> bool {
        self.items.is_empty() && self.modules.iter().all(|(_, module)| module.is_empty())
    }

    /// What is in the module.
    fn write(&self, runtime: &TokenStream, to: &mut String) {
        to.push_str(&self.items);
        for (name, module) in self.modules.iter().filter(|(_, module)| !module.is_empty()) {
            let (name, doc) = (ident(name), &module.doc);
            let imports = !module.items.is_empty() && !module.has_own_rt;
            let import = imports.then(|| import(runtime));
            let shell = laid_out(quote!(#doc pub mod #name { #import }), self.depth);
            // Its end is behind what is in it.
            let open = shell.trim_end().trim_end_matches('}').trim_end();
            to.push_str(open);
            to.push('\n');
            module.write(runtime, to);
            to.push_str(&"    ".repeat(self.depth));
            to.push_str("}\n");
        }
    }

    /// The file.
    fn text(&self, runtime: &TokenStream) -> String {
        let mut text = String::new();
        self.write(runtime, &mut text);
        format!("{HEAD}{}", spaced(&text))
    }
}

/// Items as rustfmt would lay them out within so many modules.
fn laid_out(items: TokenStream, depth: usize) -> String {
    if items.is_empty() {
        return String::new();
    }
    // Kept by nobody else, the tokens are taken apart and not copied.
    let mut file = match syn::parse2::<syn::File>(items) {
        Ok(file) => file,
        // A fault of the generator: the compiler will show where.
        Err(error) => return format!("compile_error!({:?});\n", error.to_string()),
    };
    if depth == 0 {
        file.items.iter_mut().for_each(allow_what_idl_decides);
    }
    for _ in 0..depth {
        let mut around: syn::ItemMod = syn::parse_quote!(
            mod around {}
        );
        around.content = Some((syn::token::Brace::default(), std::mem::take(&mut file.items)));
        file.items.push(syn::Item::Mod(around));
    }
    let text = prettyplease::unparse(&file);
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    lines[depth..lines.len() - depth].concat()
}

/// Puts an empty line between items, as people do.
fn spaced(text: &str) -> String {
    let mut spaced = String::with_capacity(text.len() + text.len() / 50);
    let indent = |line: &str| line.len() - line.trim_start().len();
    let starts_item = |line: &str| {
        ["///", "#[", "pub ", "impl", "fn ", "const "].iter().any(|it| line.trim_start().starts_with(it))
    };
    let mut before = "";
    for line in text.lines() {
        let ended = matches!(before.trim_start(), "}" | "};")
            || ["use ", "type "].iter().any(|it| before.trim_start().starts_with(it));
        if ended && indent(before) == indent(line) && starts_item(line) {
            spaced.push('\n');
        }
        spaced.push_str(line);
        spaced.push('\n');
        before = line;
    }
    spaced
}

const HEAD: &str = "// Generated by zorb from IDL. Changes are lost when it is generated again.\n\n";

fn import(runtime: &TokenStream) -> TokenStream {
    let is_called_rt = runtime.to_string().ends_with(":: rt");
    if is_called_rt { quote!(use #runtime;) } else { quote!(use #runtime as rt;) }
}

/// Lints on names, on numbers of arguments and on sizes: the IDL chose them.
fn allow_what_idl_decides(item: &mut syn::Item) {
    let attributes = match item {
        syn::Item::Const(it) => &mut it.attrs,
        syn::Item::Enum(it) => &mut it.attrs,
        syn::Item::Impl(it) => &mut it.attrs,
        syn::Item::Mod(it) => &mut it.attrs,
        syn::Item::Struct(it) => &mut it.attrs,
        syn::Item::Trait(it) => &mut it.attrs,
        syn::Item::Type(it) => &mut it.attrs,
        _ => return,
    };
    attributes.push(syn::parse_quote! {
        #[allow(
            dead_code,
            unused_imports,
            unreachable_pub,
            non_camel_case_types,
            non_snake_case,
            non_upper_case_globals,
            clippy::approx_constant,
            clippy::doc_lazy_continuation,
            clippy::doc_overindented_list_items,
            clippy::enum_variant_names,
            clippy::excessive_precision,
            clippy::large_enum_variant,
            clippy::len_without_is_empty,
            clippy::manual_range_patterns,
            clippy::match_single_binding,
            clippy::module_inception,
            clippy::new_ret_no_self,
            clippy::result_large_err,
            clippy::should_implement_trait,
            clippy::too_many_arguments,
            clippy::type_complexity,
            clippy::upper_case_acronyms,
            clippy::wrong_self_convention
        )]
    });
}
