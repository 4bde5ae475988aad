import json
import subprocess
import sys


def loaded(code):
    script = f"import json, sys\n{code}\nprint(json.dumps(sorted(sys.modules)))"
    output = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    return set(json.loads(output))


COMMON = """
from probatum import stats
stats.mean_interval([1, 0, 1, 1], [0, 0, 1, 1], strata=[0, 0, 1, 1], bounds=(0, 1))
stats.proportion_interval(3, 4); stats.proportion_test(3, 4, 0.25); stats.mean_test([1, 0.5, 1], 0.25)
stats.pass_at_k_interval([10, 10], [3, 5], 5); stats.missing_bounds([1, None, 0])
"""


def test_the_common_path_needs_numpy_and_special_functions_only():
    modules = loaded(COMMON)
    assert "scipy.special" in modules
    heavy = {"scipy.stats", "scipy.optimize", "scipy.linalg", "scipy.sparse", "scipy.integrate", "pandas"}
    assert heavy.isdisjoint(modules)
