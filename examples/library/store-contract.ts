// The contract of a store: `node --test store-contract.ts`. The suite needs one more package: npm install --save-dev fast-check
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { memoryStore, openSqliteStore, runStoreContract } from 'earpiece/store';

const folder = mkdtempSync(join(tmpdir(), 'earpiece-'));
after(() => rmSync(folder, { recursive: true }));
let made = 0;

// Replace this store with your own store.
runStoreContract(
  'in a file',
  {
    make: ({ clock }) => openSqliteStore({ clock, path: join(folder, `${made++}.db`) }),
    again: (store, { clock }) => openSqliteStore({ clock, path: store.path }),
    contents: (store) => readFileSync(store.path),
  },
  { describe, test },
);

// A store names the capabilities that it lacks. The suite skips their cases and prints the reason.
runStoreContract(
  'in memory',
  {
    make: ({ clock }) => memoryStore({ clock }),
    lacks: {
      'survives-restart': 'it keeps its data only while its process lives',
      'many-processes': 'only one process can open it',
      'overwrites-erased': 'it keeps nothing in files',
    },
  },
  { describe, test },
);
