// Reports the memory use of a gateway that loads this module before all others (`--import`). On SIGUSR2, the gateway writes its
// memory use, without garbage (`--expose-gc`), as a line of JSON to the file that EARPIECE_BENCH_MEMORY names.
import fs from 'node:fs';

process.on('SIGUSR2', () => {
  (globalThis as { gc?: () => void }).gc?.();
  const { rss, heapUsed } = process.memoryUsage();
  fs.appendFileSync(process.env['EARPIECE_BENCH_MEMORY'] ?? '', `${JSON.stringify({ rss, heap: heapUsed })}\n`);
});
