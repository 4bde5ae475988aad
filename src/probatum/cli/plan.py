"""`probatum plan`: how many items, or which difference they would show, before anything is paid for."""

from __future__ import annotations

from dataclasses import asdict

import click

from probatum import stats
from probatum.cli.options import json_option
from probatum.cli.output import print_json
from probatum.core.errors import UsageError

__all__ = ["command"]

MOST_ITEMS = 10**12


@click.command(name="plan")
@click.option("--effect", type=float, help="Difference of the two rates that must be seen, such as 0.03.")
@click.option("--items", type=int, help="Items at hand: the detectable effect, or with --effect the power.")
@click.option("--power", "wanted", type=float, default=0.8, help="Of seeing the effect.  [default: 0.8]")
@click.option("--alpha", type=float, default=0.05, help="Of seeing one that is not there.  [default: 0.05]")
@click.option("--one-sided", is_flag=True, help="Only an improvement matters.")
@click.option("--rate", type=float, default=0.5, help="Of the first system.  [default: 0.5, the worst case]")
@click.option("--rate-b", type=float, help="Rate of the second.  [default: the first's]")
@click.option("--correlation", type=float, default=0.0, help="Of the two scores over items.  [default: 0]")
@click.option("--unpaired", is_flag=True, help="The two systems answer different items.")
@click.option("--cluster-size", type=float, default=1.0, help="Items a cluster.  [default: 1]")
@click.option("--icc", type=float, default=0.0, help="Correlation within a cluster.  [default: 0]")
@click.option("--samples", type=int, default=1, help="Answers an item.  [default: 1]")
@click.option(
    "--within", type=float, default=0.0, help="Variance of one answer around its item's rate.  [default: 0]"
)
@json_option
def command(
    effect: float | None,
    items: int | None,
    wanted: float,
    alpha: float,
    one_sided: bool,
    rate: float,
    rate_b: float | None,
    correlation: float,
    unpaired: bool,
    cluster_size: float,
    icc: float,
    samples: int,
    within: float,
    as_json: bool,
) -> int:
    """Plan a comparison of two systems by their rates of right answers.

    Give --effect for the items that it needs, --items for the effect that they show, both for the power.
    """
    if effect is None and items is None:
        raise UsageError("nothing to plan from: give --effect, such as 0.03, or --items, or both")
    if effect is not None and not 0 < abs(effect) <= max(rate, 1 - rate):
        raise UsageError(
            f"--effect {effect!r} is out of range: from a rate of {rate:g} a difference lies between "
            f"0 and {max(rate, 1 - rate):g}"
        )
    if items is not None and not 1 <= items <= MOST_ITEMS:
        raise UsageError(f"--items {items!r} is out of range: use 1 to {MOST_ITEMS:,}")
    alternative = "one-sided" if one_sided else "two-sided"
    try:
        design = stats.Design.of_rates(
            rate,
            rate_b,
            correlation,
            paired=not unpaired,
            cluster_size=cluster_size,
            icc=icc,
            within=within,
            samples=samples,
        )
        if items is None:
            found = stats.sample_size(effect or 0.0, design, alpha, wanted, alternative)
        elif effect is None:
            found = stats.minimum_detectable_effect(items, design, alpha, wanted, alternative)
        else:
            found = stats.power(items, effect, design, alpha, alternative)
    except (ValueError, OverflowError) as error:
        raise UsageError(f"{error}; change the option") from None
    if as_json:
        print_json(asdict(found))
    else:
        _print(found, rate)
    return 0


def _print(found: stats.Plan, rate: float) -> None:
    each = "" if found.clusters is None else f" in {found.clusters:,} clusters"
    click.echo(
        f"{found.n:,} items{each} show a difference of {found.effect:.4g} "
        f"with power {found.power:.3f} at a level of {found.alpha:g} ({found.alternative})"
    )
    click.echo(f"method: {found.method}; design effect {found.design_effect:.3f}")
    for assumption in found.assumptions:
        click.echo(f"supposed: {assumption}")
    if found.effect > 1 - rate:
        click.echo(f"note: from a rate of {rate:g} only a drop can be that large")
    for warning in found.warnings:
        click.echo(f"note: {warning}")
