"""attnmap beside onnxruntime, in turns, for the models of `attnmap bench`:
compare.py ATTNMAP FOLDER TURNS. FOLDER has node_modules/onnxruntime-node; models are made there."""

import json
import os
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
# name, then layers, width, heads, patch, side; runs a turn
MODELS = {
    "vit-ti16": ((12, 192, 3, 16, 224), 40),
    "vit-s16": ((12, 384, 6, 16, 224), 20),
    "vit-b16": ((12, 768, 12, 16, 224), 8),
    "vit-s8-480": ((12, 384, 6, 8, 480), 2),
}


def run(command, **options):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **options).stdout


def main():
    attnmap, folder, turns = os.path.abspath(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    threads = os.cpu_count()
    print(f"{threads} threads, milliseconds a picture, medians of {turns} turns")
    print(f"{'model':<12}{'onnxruntime':>12}{'its own ops':>12}{'attnmap':>10}{'times as fast':>15}")
    for name, (shape, runs) in MODELS.items():
        paths = {}
        for kind in ("plain", "fused"):
            paths[kind] = os.path.join(folder, f"{name}-{kind}.onnx")
            make = [sys.executable, os.path.join(HERE, "make_vit.py"), paths[kind], *map(str, shape)]
            run([*make, kind])
        times = {"plain": [], "fused": [], "attnmap": []}
        for _ in range(turns):
            for kind, path in paths.items():
                script = os.path.join(HERE, "run.js")
                command = ["node", script, os.path.abspath(path), *map(str, (shape[4], threads, runs))]
                modules = os.path.abspath(os.path.join(folder, "node_modules"))
                times[kind].append(float(run(command, env={**os.environ, "NODE_PATH": modules})))
            table = json.loads(run([attnmap, "bench", name, "--json"]))
            times["attnmap"].append(table["models"][0]["median_ms"])
        best = [min(pair) for pair in zip(times["plain"], times["fused"])]
        ratio = statistics.median(b / a for b, a in zip(best, times["attnmap"]))
        plain, fused, ours = (statistics.median(times[k]) for k in ("plain", "fused", "attnmap"))
        print(f"{name:<12}{plain:>12.1f}{fused:>12.1f}{ours:>10.1f}{ratio:>15.2f}", flush=True)


main()
