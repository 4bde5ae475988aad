import doctest
import re
from pathlib import Path

from probatum import stats

PAGE = Path(__file__).parents[2] / "docs" / "statistics.md"


def test_the_examples_of_the_page_give_what_it_says():
    found = doctest.testfile(str(PAGE), module_relative=False)
    assert found.attempted >= 4
    assert found.failed == 0


def test_the_page_lists_every_public_name_and_no_other():
    listed = PAGE.read_text("utf-8").split("## Names")[1]
    assert sorted(re.findall(r"`(\w+)`", listed.split("|---|---|")[1])) == list(stats.__all__)
