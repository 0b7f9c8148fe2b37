// Loaded into a gateway before all other modules (`--import`): on SIGUSR2 it writes its memory use as a line of JSON to the file
// that EARPIECE_BENCH_MEMORY names. Garbage does not count (`--expose-gc`).
import fs from 'node:fs';

process.on('SIGUSR2', () => {
  (globalThis as { gc?: () => void }).gc?.();
  const { rss, heapUsed } = process.memoryUsage();
  fs.appendFileSync(process.env['EARPIECE_BENCH_MEMORY'] ?? '', `${JSON.stringify({ rss, heap: heapUsed })}\n`);
});
