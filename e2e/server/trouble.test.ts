/** Tests a server whose database fails: the server answers with problems, acknowledges no lost record, and recovers. */
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { proves } from '../verifies.ts';
import { Stage } from './stage.ts';

const { DatabaseSync } = process.getBuiltinModule('node:sqlite');

const queue = async (stage: Stage, id: string): Promise<Record<string, unknown>> => {
  const answer = await stage.raw('/api/notifications', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ to: 'shop/coder', id, message: 'x' }),
  });
  return { status: answer.status, ...((await answer.json()) as object) };
};

describe('a server whose database', () => {
  proves('server:routes');

  it('is locked by another process answers writes with a 503 that may be retried, and still answers reads', async () => {
    await using stage = await Stage.open({ busyMs: 500 });
    await queue(stage, 'n1');
    const holder = new DatabaseSync(join(stage.folder, 'e.db'));
    holder.exec('BEGIN IMMEDIATE');
    const refused = queue(stage, 'n2');
    expect((await stage.client.notifications({ log: 'shop/coder' })).items.map(({ id }) => id)).toEqual(['n1']);
    expect((await stage.client.health()).status).toBe('ok');
    expect(await refused).toMatchObject({ status: 503, code: 'store_unavailable', retryable: true });
    holder.exec('ROLLBACK');
    holder.close();
    expect(await queue(stage, 'n2')).toMatchObject({ status: 201, kind: 'queued' });
  }, 30_000);

  it('suddenly becomes garbage acknowledges nothing and reports that in /healthz; the restored file works', async () => {
    await using stage = await Stage.open();
    await queue(stage, 'n1');
    const db = join(stage.folder, 'e.db');
    const parts = ['', '-wal', '-shm'];
    for (const part of parts) renameSync(`${db}${part}`, `${db}.away${part}`);
    writeFileSync(db, 'garbage'.repeat(3_000));
    for (const id of ['n2', 'n3']) expect(await queue(stage, id)).toMatchObject({ status: 500, code: 'store_corrupt' });
    expect(await stage.client.health()).toEqual({ status: 'store_unavailable', version: '0.0.0' });
    rmSync(db);
    for (const part of parts) renameSync(`${db}.away${part}`, `${db}${part}`);
    expect(await queue(stage, 'n2')).toMatchObject({ status: 201 });
    expect((await stage.client.notifications({ log: 'shop/coder' })).items.map(({ id }) => id)).toEqual(['n2', 'n1']);
  }, 30_000);
});
