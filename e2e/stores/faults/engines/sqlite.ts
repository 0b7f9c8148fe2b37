/** Makes a file for each schedule, on a separate disk if the machine can mount such a disk. */
import { mkdirSync, mkdtempSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Disk, faultOf, whyNoDisk } from '../disk.ts';
import type { Engine } from './engine.ts';

export function startSqlite(): Engine {
  const folder = mkdtempSync(join(tmpdir(), 'earpiece-faults-'));
  const lack = whyNoDisk();
  const disk = lack === undefined ? new Disk(join(folder, 'disk'), 48) : undefined;
  let place = '';
  const path = (): string => join(place, 'e.db');
  return {
    lacks: lack === undefined ? [] : [lack],
    begin: async ({ number }) => {
      place = join(disk?.folder ?? folder, String(number));
      mkdirSync(place);
      return path();
    },
    perform: async ({ kind, ms }) => {
      if (kind !== 'wakeups') return disk === undefined ? false : faultOf(disk, kind, ms);
      // The watch of each process fires without a new record.
      for (const end = performance.now() + ms; performance.now() < end; await sleep(2)) {
        try {
          utimesSync(`${path()}-wal`, new Date(), new Date());
        } catch {
          // No process has the file open at the moment.
        }
      }
      return true;
    },
    heal: async () => disk?.mend(),
    end: async () => rmSync(place, { recursive: true, force: true }),
    close: async () => {
      disk?.remove();
      rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}
