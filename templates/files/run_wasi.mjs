// Runs a WebAssembly module that was built for WASI, for `etch check`: node run_wasi.mjs MODULE ARGUMENT...
// The module sees the folder it is started in as its own, and nothing else. Its exit code becomes node's; a trap is
// exit code 125.
import { readFile } from 'node:fs/promises';
import { argv, exit } from 'node:process';
import { WASI } from 'node:wasi';

const wasi = new WASI({ version: 'preview1', args: argv.slice(2), preopens: { '.': '.' }, returnOnExit: true });
const module = await WebAssembly.compile(await readFile(argv[2]));
try {
  const instance = await WebAssembly.instantiate(module, { wasi_snapshot_preview1: wasi.wasiImport });
  exit(wasi.start(instance));
} catch (error) {
  console.error(`fault: ${error}`);
  exit(125);
}
