//! What `cargo metadata` says of the packages and their edges.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::root;

/// The workspace as it is resolved.
#[derive(Debug, Deserialize)]
pub(crate) struct Metadata {
    packages: Vec<Package>,
    workspace_members: Vec<String>,
    resolve: Resolve,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Package {
    id: String,
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) license: Option<String>,
    /// The registries that it may go to; none at all is `publish = false`.
    publish: Option<Vec<String>>,
}

#[derive(Debug, Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Debug, Deserialize)]
struct Node {
    id: String,
    deps: Vec<Edge>,
}

#[derive(Debug, Deserialize)]
struct Edge {
    pkg: String,
    dep_kinds: Vec<EdgeKind>,
}

#[derive(Debug, Deserialize)]
struct EdgeKind {
    kind: Option<String>,
}

/// What a dependency is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Normal,
    Build,
    Dev,
}

static METADATA: LazyLock<Metadata> = LazyLock::new(|| {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--all-features", "--locked"])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo metadata: {errors}");
    serde_json::from_slice(&output.stdout).expect("the shape of `cargo metadata`, version 1")
});

impl Metadata {
    pub(crate) fn get() -> &'static Self {
        &METADATA
    }

    /// The workspace's own packages.
    pub(crate) fn members(&self) -> impl Iterator<Item = &Package> {
        self.packages.iter().filter(|package| self.workspace_members.contains(&package.id))
    }

    pub(crate) fn member(&self, name: &str) -> &Package {
        let found = self.members().find(|package| package.name == name);
        found.unwrap_or_else(|| panic!("the workspace has no {name}"))
    }

    /// Names of the workspace's packages that `package` depends on itself.
    pub(crate) fn members_under(&self, package: &Package, kinds: &[Kind]) -> BTreeSet<&str> {
        let members: BTreeMap<_, _> = self.members().map(|p| (&p.id, p.name.as_str())).collect();
        self.edges(&package.id, kinds).filter_map(|id| members.get(id).copied()).collect()
    }

    /// Names of all packages that `package` depends on itself.
    pub(crate) fn names_under(&self, package: &Package, kinds: &[Kind]) -> BTreeSet<&str> {
        let names: BTreeMap<_, _> =
            self.packages.iter().map(|p| (&p.id, p.name.as_str())).collect();
        self.edges(&package.id, kinds).map(|id| names[id]).collect()
    }

    /// Everything that `packages` are made from, themselves included.
    pub(crate) fn closure<'a>(
        &'a self,
        packages: impl IntoIterator<Item = &'a Package>,
        kinds: &[Kind],
    ) -> Vec<&'a Package> {
        let mut open: Vec<&String> = packages.into_iter().map(|package| &package.id).collect();
        let mut seen = BTreeSet::new();
        while let Some(id) = open.pop() {
            if seen.insert(id) {
                open.extend(self.edges(id, kinds));
            }
        }
        self.packages.iter().filter(|package| seen.contains(&package.id)).collect()
    }

    fn edges<'a>(&'a self, id: &str, kinds: &[Kind]) -> impl Iterator<Item = &'a String> {
        let node = self.resolve.nodes.iter().find(|node| node.id == id).expect("it is resolved");
        let is_wanted = |edge: &&Edge| edge.dep_kinds.iter().any(|k| kinds.contains(&k.kind()));
        node.deps.iter().filter(is_wanted).map(|edge| &edge.pkg)
    }
}

impl Package {
    pub(crate) fn is_published(&self) -> bool {
        self.publish.as_ref().is_none_or(|registries| !registries.is_empty())
    }
}

impl EdgeKind {
    fn kind(&self) -> Kind {
        match self.kind.as_deref() {
            None => Kind::Normal,
            Some("build") => Kind::Build,
            Some("dev") => Kind::Dev,
            Some(other) => panic!("an unknown kind of dependency: {other}"),
        }
    }
}
