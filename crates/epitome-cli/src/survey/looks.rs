//! How kinds of content are drawn.

use epitome::count::ContentKind;

/// Its colour among the 256 of terminals, on white and on black.
struct Look(u8, &'static str, &'static str);

/// In the order of the kinds.
const LOOKS: [Look; ContentKind::ALL.len()] = [
    Look(103, "#64748b", "#94a3b8"),
    Look(136, "#a16207", "#ca8a04"),
    Look(208, "#ea580c", "#fb923c"),
    Look(222, "#eab308", "#fde047"),
    Look(205, "#be185d", "#f472b6"),
    Look(71, "#16a34a", "#4ade80"),
    Look(141, "#7c3aed", "#a78bfa"),
    Look(44, "#0e9fb8", "#22d3ee"),
    Look(69, "#2563eb", "#5b93f5"),
    Look(203, "#dc2626", "#f87171"),
    Look(245, "#9ca3af", "#6b7280"),
    Look(240, "#cbd5e1", "#475569"),
];

/// Its colour among the 256 of terminals.
pub(crate) fn shade(kind: ContentKind) -> u8 {
    LOOKS[kind as usize].0
}

/// Its colours on white and on black.
pub(crate) fn hues(kind: ContentKind) -> (&'static str, &'static str) {
    let Look(_, on_white, on_black) = LOOKS[kind as usize];
    (on_white, on_black)
}
