// An image through onnxruntime for each line of standard input, answered by its milliseconds:
// node run.js MODEL.onnx SIDE THREADS
const ort = require('onnxruntime-node');
const readline = require('readline');

async function main() {
  const [model, side, threads] = [process.argv[2], ...process.argv.slice(3).map(Number)];
  const session = await ort.InferenceSession.create(model, {
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    graphOptimizationLevel: 'all',
  });
  const pixels = new Float32Array(3 * side * side).map(() => Math.random() * 2 - 1);
  const feeds = {pixels: new ort.Tensor('float32', pixels, [1, 3, side, side])};
  for await (const _ of readline.createInterface({input: process.stdin})) {
    const begin = process.hrtime.bigint();
    await session.run(feeds);
    console.log(Number(process.hrtime.bigint() - begin) / 1e6);
  }
}

main();
