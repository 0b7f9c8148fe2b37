// The contract of a store: `node --test store-contract.ts`. It needs one package more: npm install --save-dev fast-check
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { memoryStore, openSqliteStore, runStoreContract } from 'earpiece/store';

const folder = mkdtempSync(join(tmpdir(), 'earpiece-'));
after(() => rmSync(folder, { recursive: true }));
let made = 0;

// Put your store in place of this one.
runStoreContract(
  'in a file',
  {
    make: ({ clock }) => openSqliteStore({ clock, path: join(folder, `${made++}.db`) }),
    again: (store, { clock }) => openSqliteStore({ clock, path: store.path }),
  },
  { describe, test },
);

// A store names what it cannot do. The suite skips those cases and prints the reason.
runStoreContract(
  'in memory',
  {
    make: ({ clock }) => memoryStore({ clock }),
    lacks: {
      'survives-restart': 'it lives and ends with its process',
      'many-processes': 'one process has it',
    },
  },
  { describe, test },
);
