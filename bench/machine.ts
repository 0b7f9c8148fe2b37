import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

export type Machine = {
  readonly node: string;
  readonly sqlite: string;
  readonly system: string;
  readonly processors: string;
  /** 4 KiB written and synced, one after the other, on the disk that is measured. */
  readonly syncsPerSecond: number;
  readonly text: string;
};

/** What the figures were taken on. A durable write costs what the disk's sync costs, so that is measured, not assumed. */
export function machine(folder: string): Machine {
  const processors = `${os.availableParallelism()} x ${os.cpus()[0]?.model.trim() ?? 'unknown processor'}`;
  const sqlite = process.versions['sqlite'] ?? 'unknown';
  const system = `${os.type()} ${os.release().split('-')[0]} ${os.arch()}`;
  const syncsPerSecond = measureSyncs(folder);
  return {
    node: process.version,
    sqlite,
    system,
    processors,
    syncsPerSecond,
    text: `Node ${process.version}, SQLite ${sqlite}, ${system}, ${processors}, ${Math.round(syncsPerSecond).toLocaleString('en')} synced 4 KiB writes a second`,
  };
}

function measureSyncs(folder: string): number {
  const file = path.join(fs.mkdtempSync(path.join(folder, 'earpiece-sync-')), 'file');
  const descriptor = fs.openSync(file, 'w');
  const block = Buffer.alloc(4096, 1);
  const times = 1000;
  for (let i = 0; i < times; i++) fs.writeSync(descriptor, block);
  fs.fsyncSync(descriptor);
  const start = performance.now();
  for (let i = 0; i < times; i++) {
    fs.writeSync(descriptor, block, 0, block.length, i * block.length);
    fs.fdatasyncSync(descriptor);
  }
  const took = performance.now() - start;
  fs.closeSync(descriptor);
  fs.rmSync(path.dirname(file), { recursive: true, force: true });
  return (times * 1000) / took;
}
