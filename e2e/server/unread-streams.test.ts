/** Tests two thousand streams without readers: the server refuses streams over the cap, still answers, and limits its memory. */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { createClient } from '../../src/wire/client/index.ts';
import { Tokens } from '../../src/server/index.ts';
import { openStore } from '../../src/stores/index.ts';
import { verifies } from '../verifies.ts';
import { ServerProcess } from './process.ts';

const STREAMS = 2_000;
/** The limit of one token: a fifth of the 5,000 streams that a server allows. */
const CAP = 1_000;
const POSTS = 60;
const MESSAGE = 30_000;
const READERS = 5;
/** The maximum time of a health check. Many load balancers wait at most five seconds for its answer. */
const HEALTH_MS = 5_000;

describe('2,000 streams without readers', () => {
  const folder = mkdtempSync(join(tmpdir(), 'earpiece-unread-'));
  const db = join(folder, 'e.db');
  const tokens: Record<'admin' | 'project', string> = { admin: '', project: '' };
  const sockets: Socket[] = [];

  beforeAll(async () => {
    const store = await openStore(db);
    const made = new Tokens({ store, speaker: undefined });
    tokens.admin = (await made.create({ kind: 'admin', name: 'reads' })).token;
    tokens.project = (await made.create({ kind: 'project', project: 'shop', name: 'reads nothing' })).token;
    await store.close();
  });
  afterAll(() => {
    for (const socket of sockets) socket.destroy();
    rmSync(folder, { recursive: true, force: true });
  });

  verifies(
    'server:unread-streams',
    async () => {
      const env = { ...process.env, HOME: folder, XDG_STATE_HOME: folder, XDG_CONFIG_HOME: folder } as Record<string, string>;
      await using server = new ServerProcess(['--db', db, '--port', '0'], { cwd: folder, env });
      const { url, pid } = await server.ready;
      const admin = createClient({ url, token: tokens.admin });

      const reading = Array.from({ length: READERS }, () => ({ ids: [] as string[], end: new AbortController() }));
      const { head } = await admin.log({ project: 'shop' });
      const readers = reading.map(async ({ ids, end }) => {
        for await (const { body } of admin.stream({ project: 'shop', after: head, signal: end.signal })) {
          if (body.type === 'system_notification_queued') ids.push((body as unknown as { id: string }).id);
          if (ids.length === POSTS) return;
        }
      });

      // All streams are opened at the same time, so that the server must also count streams that are still opening. At the same
      // time, another process polls the health.
      const prober = new Prober(`${url}/healthz`);
      await prober.asked(1);
      const statuses = await Promise.all(Array.from({ length: STREAMS }, () => open(url, tokens.project, sockets)));
      await prober.asked(1);
      expect(Math.max(...prober.took)).toBeLessThan(HEALTH_MS);
      prober.stop();
      expect(statuses.filter((status) => status === 200)).toHaveLength(CAP);
      expect(statuses.filter((status) => status === 503)).toHaveLength(STREAMS - CAP);
      const before = rssOf(pid);

      const took: number[] = [];
      const sent: string[] = [];
      for (let n = 0; n < POSTS; n++) {
        const started = performance.now();
        const { id } = await admin.queue({ to: 'shop/coder', id: `n${n}`, kind: 'ci.failed', message: 'x'.repeat(MESSAGE) });
        took.push(performance.now() - started);
        sent.push(id);
      }
      await Promise.all(readers);
      for (const { ids } of reading) expect(ids).toEqual(sent);
      expect((await admin.agents({ project: 'shop' })).items).toMatchObject([{ log: 'shop/coder' }]);
      const after = rssOf(pid);
      const sorted = took.toSorted((a, b) => a - b);
      process.stdout.write(
        `${STREAMS} unread streams: ${CAP} served, ${STREAMS - CAP} refused; ${POSTS} POSTs of ${MESSAGE} bytes took ` +
          `p50 ${sorted[POSTS / 2]?.toFixed(0)} ms, at most ${sorted.at(-1)?.toFixed(0)} ms; the server grew from ${before} to ${after} MB\n`,
      );
      // Without limits, the streams would need 1,000 times 1.8 MB. The server keeps at most 64 MiB for all streams. The runtime
      // needs the other memory.
      expect(after - before).toBeLessThan(400);
    },
    180_000,
  );
});

/** Requests a URL repeatedly in another process, and keeps the time of each answer in ms. */
class Prober {
  readonly took: number[] = [];
  readonly #process: ChildProcess;
  #wake: () => void = () => {};

  constructor(url: string) {
    const script = `for (;;) {
      const began = performance.now();
      const answer = await fetch(${JSON.stringify(url)});
      await answer.text();
      console.log(answer.status === 200 ? performance.now() - began : Infinity);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }`;
    this.#process = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
    createInterface({ input: this.#process.stdout as Readable }).on('line', (line) => {
      this.took.push(Number(line));
      this.#wake();
    });
  }

  /** Resolves after this many further answers. */
  async asked(more: number): Promise<void> {
    const until = this.took.length + more;
    while (this.took.length < until) await new Promise<void>((resolve) => (this.#wake = resolve));
  }

  stop(): void {
    this.#process.kill();
  }
}

/** Opens a stream and reads only its headers. Resolves with the status. */
function open(url: string, token: string, sockets: Socket[]): Promise<number> {
  const { port, hostname } = new URL(url);
  const socket = connect(Number(port), hostname);
  sockets.push(socket);
  socket.on('error', () => undefined);
  socket.write(`GET /api/stream?project=shop HTTP/1.1\r\nhost: ${hostname}:${port}\r\nauthorization: Bearer ${token}\r\n\r\n`);
  return new Promise((resolve, reject) => {
    socket.once('data', (chunk: Buffer) => {
      socket.pause();
      resolve(Number(/^HTTP\/1\.1 (\d{3})/u.exec(chunk.toString('latin1'))?.[1]));
    });
    socket.once('close', () => reject(new Error('closed before its answer')));
  });
}

/** Returns the memory of a process in megabytes. */
const rssOf = (pid: number): number =>
  Math.round(Number(/^VmRSS:\s+(\d+) kB$/mu.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024);
