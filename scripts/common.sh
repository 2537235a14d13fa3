# What the scripts share; sourced by them. Each works from the top of the checkout.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

jobs=$(nproc)

say() { printf '\n== %s\n' "$*" >&2; }

# build_preset PRESET [cmake option...]: configures and builds build/PRESET. Where CI is set warnings
# are errors, and a test program's files are compiled as one, since none was compiled before.
build_preset() {
  local preset=$1
  shift
  local options=("-DATTNMAP_WERROR=${CI:+ON}" "-DATTNMAP_UNITY_TESTS=${CI:+ON}")
  if command -v ccache >/dev/null; then options+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
  say "building build/$preset"
  cmake --preset "$preset" "${options[@]}" "$@" >/dev/null || return
  cmake --build "build/$preset" --parallel "$jobs"
}

# test_preset PRESET [ctest option...]: runs the tests of build/PRESET. The reference data beside the
# checkout is asked for where it is there; tests that go without it are listed.
test_preset() {
  local preset=$1
  shift
  if [ -d ../shared ]; then export ATTNMAP_REQUIRE_SHARED=1; fi
  say "testing build/$preset"
  local status=0
  ctest --test-dir "build/$preset" --output-on-failure --parallel "$jobs" "$@" || status=$?
  local skips
  skips=$(grep -hoE 'skipped: .*' "build/$preset/Testing/Temporary/LastTest.log" | sort | uniq -c) || true
  if [ -n "$skips" ]; then printf 'tests that had nothing to run on:\n%s\n' "$skips" >&2; fi
  return "$status"
}
