// How long onnxruntime takes for a picture: node run.js MODEL.onnx SIDE THREADS RUNS; the median in
// milliseconds, after two runs that do not count.
const ort = require('onnxruntime-node');

async function main() {
  const [model, side, threads, runs] = [process.argv[2], ...process.argv.slice(3).map(Number)];
  const session = await ort.InferenceSession.create(model, {
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    graphOptimizationLevel: 'all',
  });
  const pixels = new Float32Array(3 * side * side).map(() => Math.random() * 2 - 1);
  const feeds = {pixels: new ort.Tensor('float32', pixels, [1, 3, side, side])};
  const times = [];
  for (let i = 0; i < runs + 2; ++i) {
    const begin = process.hrtime.bigint();
    await session.run(feeds);
    if (i > 1) times.push(Number(process.hrtime.bigint() - begin) / 1e6);
  }
  times.sort((a, b) => a - b);
  console.log(times[times.length >> 1]);
}

main();
