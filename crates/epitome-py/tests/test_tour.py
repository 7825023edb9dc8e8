"""The notebook prints what stands in it. ``UPDATE_EXPECT=1`` writes its outputs anew."""

import os
from pathlib import Path
from typing import Any

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")

ROOT = Path(os.environ.get("EPITOME_ROOT") or Path(__file__).resolve().parents[3])
TOUR = ROOT / "crates/epitome-py/tour.ipynb"


def outputs(notebook: Any) -> list[list[tuple[Any, Any, Any]]]:
    """What each cell gives, without its numbers."""
    cells = (cell for cell in notebook.cells if cell.cell_type == "code")
    return [[(one.get("text"), one.get("data"), one.get("evalue")) for one in cell.outputs] for cell in cells]


def test_the_tour_prints_what_stands_in_it() -> None:
    wanted = nbformat.read(TOUR, as_version=4)
    ran = nbformat.read(TOUR, as_version=4)
    nbclient.NotebookClient(ran, timeout=600, resources={"metadata": {"path": str(TOUR.parent)}}).execute()
    if os.environ.get("UPDATE_EXPECT"):
        for cell in ran.cells:
            # Times of execution would change with every run.
            cell.metadata = {}
        nbformat.write(ran, TOUR)
    else:
        assert outputs(ran) == outputs(wanted)
