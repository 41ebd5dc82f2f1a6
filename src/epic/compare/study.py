"""Does a method help on these graphs? Paired splits and initial weights, equal budgets, and an interval."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from typing import Any

from epic._io import write_figure
from epic.augment import METHODS
from epic.compare.curves import Curve, curves, draw, sentences, table
from epic.compare.page import comparison_page, forest
from epic.compare.plan import QUICK, QUICK_TRAINING, Entry, Plan, baseline_entry
from epic.compare.runner import Outlook, carry_out, outlook
from epic.compare.runs import METRICS, UNITS, Runs
from epic.compare.store import MOST_ASKED, Store
from epic.compare.table import NOTES, TITLES, Row, curve_lines, lines, row_texts, rows
from epic.compare.task import Performer, task_runners
from epic.compare.times import seconds_of
from epic.compare.verdict import LEAST
from epic.data import Dataset, load, write_graphs
from epic.data.splits import check_draw
from epic.errors import choose, need_count, need_number, need_some
from epic.graphs.convert import pack
from epic.graphs.packed import Graphs
from epic.train.config import RunConfig
from epic.train.network import Network, check_network, load_network

logger = logging.getLogger(__name__)


@dataclass
class Study:
    """A comparison of methods with plain training: what `epic compare` plans, runs and reports.

    Attributes:
        dataset: The graphs.
        runs: The plan, and the store of its results. A budget cuts the plan.
        call: The command and its options, kept with every record.
        perform: Does one run.
        told: What a budget left of the plan, in a sentence; empty without one.
    """

    dataset: Dataset
    runs: Runs
    call: dict[str, Any]
    perform: Performer
    told: str = ""

    @property
    def store(self) -> Store:
        return self.runs.store

    @property
    def quick(self) -> bool:
        """Whether it is a quick look, of which nothing is judged."""
        return self.runs.plan.quick

    @property
    def unit(self) -> str:
        """What differences are measured in."""
        return UNITS[self.dataset.task]

    @property
    def failed(self) -> int:
        """The number of runs that failed."""
        return len(self.runs.failed)

    def outlook(self, workers: int = 1) -> Outlook:
        """Say how much is done, and about how long the rest takes."""
        return outlook(self.runs, workers)

    def run(self, *, tell: Callable[[str], None] | None = None, **options: Any) -> bool:
        """Do what is missing.

        Args:
            tell: Called with a sentence on what fits in the budget.
            **options: Those of :func:`~epic.compare.runner.carry_out`, such as ``workers`` and ``budget``.

        Returns:
            Whether nothing is left to do of what was asked for.
        """

        def fits(sentence: str) -> None:
            self.told = sentence
            if tell is not None:
                tell(sentence)

        return carry_out(self.runs, self.perform, call=self.call, tell=fits, standing=self.standing, **options)

    def standing(self) -> str:
        """Say in a line what is found by now."""
        if len(self.runs.plan.sizes) > 1:
            return f"{len(self.runs.whole)} of {self.runs.plan.splits * self.runs.plan.seeds} draws are whole"
        rivals = {e.label for e in self.runs.plan.entries if not e.is_baseline}
        found = [r for r in self.rows if r.difference is not None and r.method in rivals]
        splits = max((r.difference.splits for r in found if r.difference is not None), default=0)
        said = "; ".join(f"{r.method} {r.verdict}" for r in found)
        return f"after {splits} split{'s' * (splits != 1)}: {said}"

    @property
    def rows(self) -> list[Row]:
        """One row a method, plain training first, from the runs that are done."""
        return rows(self.runs)

    @property
    def curves(self) -> list[Curve]:
        """Scores by the number of labelled graphs, plain training first, where several sizes were asked for."""
        return curves(self.runs) if len(self.runs.plan.sizes) > 1 else []

    def draw(self, axes: Any) -> None:
        """Draw learning curves, or differences with their intervals, on axes of matplotlib."""
        if found := self.curves:
            draw(axes, found, task=self.dataset.task)
        else:
            forest(axes, {r.method: r.difference for r in self.rows if r.difference is not None}, unit=self.unit)

    def plot(self, path: str | Path) -> None:
        """Write the picture of :meth:`draw` as PNG, PDF or SVG, by the name of the file."""
        from matplotlib.figure import Figure

        figure = Figure(figsize=(6.4, 4.2), layout="constrained")
        self.draw(figure.add_subplot(title=self.dataset.name))
        write_figure(path, figure, dpi=150)

    @property
    def banner(self) -> str:
        """Say what keeps this from being a whole answer; empty if nothing does."""
        splits = len({split for _, split in self.runs.whole})
        told = f"{splits} whole split{' is' if splits == 1 else 's are'} too few to judge by"
        short = f"{told}: a verdict needs {LEAST}." if splits < LEAST else ""
        return " ".join(text for text in (self.told, QUICK if self.quick else short) if text)

    def page(self) -> str:
        """Return the result as an HTML page that needs nothing else."""
        plan, task, done, curves = self.runs.plan, self.dataset.task, self.outlook(), self.curves
        if curves:
            kind, name = "draws of each size", "Score by the number of labelled graphs, with 95 % bands"
            verdicts, cells = sentences(curves, self.unit), table(curves, self.unit)
        else:
            kind, name, rows = "splits", "Difference to plain training, with 95 % intervals", self.rows
            verdicts = [f"{r.method}: {r.verdict}" for r in rows if r.difference is not None]
            cells = [TITLES, *(row_texts(row, task, plan) for row in rows)]
        classes = ", ".join(f"{count} {name}" for name, count in self.dataset.class_counts.items())
        if self.quick:
            verdicts, name = ["none: a quick look is no result"], name.partition(", with")[0]
        return comparison_page(
            f"Methods compared on {self.dataset.name}",
            about=f"{len(self.dataset)} graphs{f' ({classes})' * bool(classes)}, {plan.splits} {kind}, {plan.seeds} "
            f"seed{'s' * (plan.seeds > 1)} each. {done.done} of {done.total} runs are done. Score: {METRICS[task]}, on "
            "test graphs.",
            banner=self.banner,
            verdicts=verdicts,
            picture=(name, self.draw),
            table=cells,
            notes=() if curves else NOTES[self.quick :],
            call=self.call,
        )

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> list[str]:
        """Return the result as lines of text: what limits it, a table, and what its columns mean."""
        text = (curve_lines if len(self.runs.plan.sizes) > 1 else lines)(self.runs)
        return [*([self.banner] if self.banner else []), *text]


def compare(
    dataset: str | Path | Graphs,
    methods: Sequence[str] = ("epic_edges", "epic"),
    *,
    model: Network | Mapping[str, Any] | str | None = None,
    budget: float | str | None = None,
    workers: int = 0,
    ray: str | None = None,
    retry: bool = False,
    results: str | Path = "compare.jsonl",
    progress: bool = True,
    **options: Any,
) -> Study:
    """Say, with an interval, whether methods help on graphs: `epic compare` in Python.

    Args:
        dataset: A name or a file, as :func:`epic.data.load` takes it, or labelled PyG graphs. Graphs are written to a
            file next to ``results``.
        methods: Names of methods; plain training is always compared too.
        model: Your own network instead of our backbone: a class or function that is called with the number of columns
            of ``x`` and the number of outputs, or its name ``package.module:Class``. Its ``forward`` takes a ``Batch``
            or ``(x, edge_index, batch)`` and returns ``[graphs, outputs]``. Or changes of the backbone, such as
            ``{"hidden_channels": 32}``.
        budget: Answer in this time, to within a run: seconds, or a text such as ``5m``. The plan is cut to what fits.
        workers: Processes, one thread each; 0 works in this process. Workers must be able to import the network.
        ray: Address of a Ray cluster to work on, or ``local``.
        retry: Whether failed runs are done again.
        results: File that runs are kept in. The same question goes on where it stopped.
        progress: Whether to show progress bars.
        **options: Those of ``study``, such as ``splits``, ``seeds``, ``tune``, ``sizes``, ``updates`` and ``quick``.

    Returns:
        The study: ``print`` shows its table, ``rows`` has the numbers, ``page()`` is its HTML page.

    Raises:
        InputError: The graphs, a method or the network cannot be used; the message says why.
    """
    if not isinstance(dataset, (str, Path)):
        graphs = pack(dataset)
        dataset = Path(results).parent / f"graphs-{graphs.digest()[:12]}.safetensors"
        dataset.parent.mkdir(parents=True, exist_ok=True)
        write_graphs(dataset, graphs)
    asked = study(str(dataset), methods, results=results, model=model, progress=progress, **options)
    limit = seconds_of(budget) if isinstance(budget, str) else budget and need_number(budget, "budget")
    how = {"workers": workers, "ray": ray, "retry": retry, "budget": limit, "progress": progress}
    asked.run(**how, say=logger.warning, tell=logger.info)
    return asked


def study(
    dataset: str,
    methods: Sequence[str],
    *,
    results: str | Path = "compare.jsonl",
    data: str | Path | None = None,
    target: list[str] | None = None,
    task: str | None = None,
    model: Network | Mapping[str, Any] | str | None = None,
    quick: bool = False,
    progress: bool = True,
    **options: Any,
) -> Study:
    """Prepare a comparison of methods with plain training on a dataset or on a file.

    Args:
        dataset: A name or a file, as :func:`epic.data.load` takes it.
        methods: Names of methods; plain training is always compared too.
        results: File that runs are kept in. The same question goes on where it stopped.
        data: Folder to look for data in first.
        target: Columns of a CSV to predict.
        task: What the labels of a CSV are.
        model: The user's own network or its name, see :func:`compare`, or changes of the backbone.
        quick: A quick look: two splits, one seed, few epochs and no tuning unless you say otherwise, and no verdict.
        progress: Whether downloads show a progress bar.
        **options: Those of :func:`plan_of`, such as ``splits`` and ``seeds``; others go into every config.
    """
    names = [choose(n, METHODS, "method") for n in need_some(methods, "methods")]
    known = {*signature(compare).parameters, *signature(study).parameters, *signature(plan_of).parameters}
    for option in options:
        choose(option, sorted({*known, *RunConfig.model_fields} - {"options", "given"}), "option")
    if quick:
        less = {"splits": 2, "seeds": 1, "tune": 0, **QUICK_TRAINING}
        options |= {k: v for k, v in less.items() if options.get(k) in (None, {})}
    loaded = load(dataset, data=data, target=target, task=task, progress=progress)
    for size in options.get("sizes") or ():
        if size is not None:
            check_draw(size, len(loaded.graphs))
    file = Path(dataset).exists()
    name = str(Path(dataset).resolve()) if file else dataset  # workers elsewhere have another working folder
    sums = {name: loaded.graphs.digest()} if file else {}
    molecules = loaded.graphs.x is not None and not loaded.graphs.x.is_floating_point()
    baselines = ("counts", "ecfp") if molecules else ("counts",)
    network: Network | None = None
    if isinstance(model, Mapping):
        options["model"] = dict(model)
    elif model is not None:
        network = load_network(model) if isinstance(model, str) else model
        options["network"] = check_network(network, loaded, names)
    plan = plan_of(name, names, baselines=baselines, checksums=sums, quick=quick, target=target, task=task, **options)
    given = {"target": target, "task": task, **options}
    if options.get("sizes") is not None:
        given["sizes"] = ["all" if size is None else size for size in options["sizes"]]
    asked = {"dataset": name, "methods": names, **{k: v for k, v in given.items() if v not in (None, {})}}
    asked |= {"quick": True} if quick else {}
    folder = None if data is None else str(Path(data).resolve())
    perform = Performer(Path(results).parent.resolve() / "costs", folder, task_runners(network))
    runs = Runs(plan, Store(results), paired=True)
    return Study(loaded, runs, {"command": "epic compare", **asked}, perform)


def plan_of(
    dataset: str,
    methods: Sequence[str],
    *,
    backbone: str = "gin",
    baselines: Sequence[str] = (),
    sizes: Sequence[int | None] | None = None,
    splits: int | None = None,
    seeds: int | None = None,
    tune: int | None = None,
    checksums: dict[str, str] | None = None,
    quick: bool = False,
    **given: Any,
) -> Plan:
    """Plan a comparison with plain training.

    Every split and seed gives all methods the same graphs and the same initial weights. Every method tries ``tune``
    settings on the validation graphs of a split; plain training tries as many learning rates and dropouts, which the
    methods then use too. All take the same number of gradient steps. Splits are stratified, also where a dataset has
    an official one: one split cannot tell chance from effect. What else is ``given`` goes into every config; None says
    nothing.

    Args:
        dataset: Name of the dataset.
        methods: Names of methods.
        backbone: The network.
        baselines: Classifiers without it that stand in the table too.
        sizes: Numbers of labelled graphs for learning curves, None for all; the rest of the data is test.
        splits: Splits, or draws of each size (default: 5, or 10 draws).
        seeds: Training seeds of each split (default: 3, or 1 for each draw).
        tune: Settings that every method may try (default: 3, or none for curves).
        checksums: Of datasets that are files.
        quick: Whether it is a quick look, of which nothing is judged.
        **given: Values for every config.
    """
    curve = sizes is not None
    tries = (0 if curve else 3) if tune is None else need_count(tune, "tune", least=0, most=MOST_ASKED)
    return Plan(
        name="compare",
        title=f"Methods compared on {dataset}",
        datasets=(dataset,),
        backbones=(backbone,),
        entries=(
            *(Entry(label=n, method=n) for n in dict.fromkeys(["vanilla", *methods])),
            *map(baseline_entry, baselines),
        ),
        sizes=(None,) if sizes is None else tuple(dict.fromkeys(sizes)),
        splits=(10 if curve else 5) if splits is None else need_count(splits, "splits", most=MOST_ASKED),
        seeds=(1 if curve else 3) if seeds is None else need_count(seeds, "seeds", most=MOST_ASKED),
        tune=tries if tries > 1 else 0,  # a single try is no tuning
        plain=("lr",) if given.get("network") else ("lr", "dropout"),
        options={"split": "stratified", "outputs": curve, **{k: v for k, v in given.items() if v is not None}},
        checksums=checksums or {},
        quick=quick,
    )
