// Classifies the held-out digits with the module of the page and compares every output with ONNX Runtime's, bit for bit:
// node check.mjs digits.wasm heldout.bin. Records are a label, 64 pixels from 0 to 16 and 10 float32.
import { readFile } from 'node:fs/promises';
import { argv, exit } from 'node:process';

const { instance } = await WebAssembly.instantiate(await readFile(argv[2]), {});
const { memory, image, logits, classify, _initialize } = instance.exports;
if (_initialize) _initialize();
const records = await readFile(argv[3]);
const recordBytes = 1 + 64 + 40;
let equal = 0, right = 0;
const count = records.length / recordBytes;
for (let at = 0; at < records.length; at += recordBytes) {
  new Float32Array(memory.buffer, image(), 64).set(Array.from(records.subarray(at + 1, at + 65), (level) => level / 16));
  classify();
  const said = Buffer.from(memory.buffer, logits(), 40);
  const scores = Array.from(new Float32Array(memory.buffer, logits(), 10));
  equal += said.equals(records.subarray(at + 65, at + recordBytes)) ? 1 : 0;
  right += scores.indexOf(Math.max(...scores)) === records[at] ? 1 : 0;
}
console.log(`${right} of ${count} digits right; equal to ONNX Runtime, bit for bit: ${equal} of ${count}`);
exit(equal === count && count > 0 ? 0 : 4);
