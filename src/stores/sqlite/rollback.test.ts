/** Tests a database that is not in WAL mode. `VACUUM INTO` makes such databases. */
import { mkdtempSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { LogKey } from '../../core/address.ts';
import { openSqliteStore } from './store.ts';

const LOG = 'shop/coder' as LogKey;
it('a copy in rollback mode accepts records from its first opening on', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'earpiece-rollback-'));
  const path = join(folder, 'e.db');
  const made = await openSqliteStore({ path });
  await made.append(LOG, [{ type: 'chat_response', message: 'before' }]);
  await made.close();
  const copy = join(folder, 'copy.db');
  const raw = new DatabaseSync(path);
  raw.exec(`VACUUM INTO '${copy}'`);
  raw.close();
  const store = await openSqliteStore({ path: copy });
  for (const message of ['first', 'second']) await store.append(LOG, [{ type: 'chat_response', message }]);
  expect((await store.read({})).map(({ body }) => body['message' as never])).toEqual(['before', 'first', 'second']);
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});
