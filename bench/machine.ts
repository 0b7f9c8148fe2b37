import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { median } from './rounds.ts';

export type Machine = {
  readonly node: string;
  readonly sqlite: string;
  readonly system: string;
  readonly processors: string;
  /** The time to write and sync 4 KiB on the measured disk, in microseconds. */
  readonly syncUs: number;
  /** The time of a cheap system call, in nanoseconds. */
  readonly systemCallNs: number;
  readonly text: string;
};

/**
 * Describes the machine of the figures. A durable write takes about as long as a sync and some twenty system calls, so both are
 * measured.
 */
export function machine(folder: string): Machine {
  const processors = `${os.availableParallelism()} x ${os.cpus()[0]?.model.trim() ?? 'unknown processor'}`;
  const sqlite = process.versions['sqlite'] ?? 'unknown';
  const system = `${os.type()} ${os.release().split('-')[0]} ${os.arch()}`;
  const syncUs = measureSync(folder);
  const systemCallNs = measureSystemCall();
  return {
    node: process.version,
    sqlite,
    system,
    processors,
    syncUs,
    systemCallNs,
    text: `Node ${process.version}, SQLite ${sqlite}, ${system}, ${processors}; 4 KiB written and synced ${syncUs.toFixed(0)} us, a system call ${systemCallNs.toFixed(0)} ns`,
  };
}

function measureSync(folder: string): number {
  const file = path.join(fs.mkdtempSync(path.join(folder, 'earpiece-sync-')), 'file');
  const descriptor = fs.openSync(file, 'w');
  const block = Buffer.alloc(4096, 1);
  const times = 1000;
  for (let i = 0; i < times; i++) fs.writeSync(descriptor, block);
  fs.fsyncSync(descriptor);
  const took: number[] = [];
  for (let i = 0; i < times; i++) {
    const start = performance.now();
    fs.writeSync(descriptor, block, 0, block.length, i * block.length);
    fs.fdatasyncSync(descriptor);
    took.push(performance.now() - start);
  }
  fs.closeSync(descriptor);
  fs.rmSync(path.dirname(file), { recursive: true, force: true });
  return 1_000 * median(took);
}

/** Measures `getuid`, because its result is never cached. The call from JavaScript adds some 30 ns. */
function measureSystemCall(): number {
  const times = 20_000;
  const took: number[] = [];
  for (let round = 0; round < 15; round++) {
    const start = performance.now();
    for (let i = 0; i < times; i++) process.getuid?.();
    took.push(performance.now() - start);
  }
  return (1e6 * median(took)) / times;
}
