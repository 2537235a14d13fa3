"""attnmap beside onnxruntime, an image each in turn, for the models of `attnmap bench`:
compare.py BUILD_DIR FOLDER TURNS. FOLDER has node_modules/onnxruntime-node; models are made there.
onnxruntime computes whole models, to the classes; attnmap the class token's map of the last layer."""

import operator
import os
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
# layers, width, heads, patch, side; the share of the turns that are taken
MODELS = {
    "vit-ti16": ((12, 192, 3, 16, 224), 1),
    "vit-s16": ((12, 384, 6, 16, 224), 1),
    "vit-b16": ((12, 768, 12, 16, 224), 0.5),
    "vit-s8-480": ((12, 384, 6, 8, 480), 0.1),
}


class Server:
    """A program that answers each line with the milliseconds an image took."""

    def __init__(self, command, **options):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, bufsize=1, **options)
        self.times = []
        for _ in range(2):
            self.image()

    def image(self):
        self.process.stdin.write("\n")
        return float(self.process.stdout.readline())

    def turn(self):
        time.sleep(0.1)  # onnxruntime's threads look for more work for a while
        self.image()  # the caches are this model's again
        self.times.append(self.image())

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def onnxruntime(name, shape, kind, folder, threads):
    path = os.path.abspath(os.path.join(folder, f"{name}-{kind}.onnx"))
    make = [sys.executable, os.path.join(HERE, "make_vit.py"), path, *map(str, shape), kind]
    subprocess.run(make, check=True)
    modules = os.path.abspath(os.path.join(folder, "node_modules"))
    command = ["node", os.path.join(HERE, "run.js"), path, str(shape[4]), str(threads)]
    return Server(command, env={**os.environ, "NODE_PATH": modules})


def main():
    build, folder, turns = sys.argv[1], sys.argv[2], int(sys.argv[3])
    bench = os.path.join(build, "bench", "encoder_bench")
    print("milliseconds an image: median (best); times as fast: median of turns (best by best)")
    print(f"{'model':<12}{'threads':>8}{'onnxruntime':>18}{'its own operators':>20}{'attnmap':>18}"
          f"{'times as fast':>15}")
    for name, (shape, share) in MODELS.items():
        for threads in sorted({1, os.cpu_count()}):
            servers = [onnxruntime(name, shape, kind, folder, threads) for kind in ("plain", "fused")]
            servers.append(Server([bench, "--threads", str(threads), "--served", name]))
            for _ in range(max(int(turns * share), 3)):
                for server in servers:
                    server.turn()
            cells = [f"{statistics.median(s.times):.1f} ({min(s.times):.1f})" for s in servers]
            *rivals, ours = (s.times for s in servers)
            in_turn = min(statistics.median(map(operator.truediv, r, ours)) for r in rivals)
            ratio = f"{in_turn:.2f} ({min(map(min, rivals)) / min(ours):.2f})"
            print(f"{name:<12}{threads:>8}{cells[0]:>18}{cells[1]:>20}{cells[2]:>18}{ratio:>15}",
                  flush=True)
            for server in servers:
                server.close()


main()
