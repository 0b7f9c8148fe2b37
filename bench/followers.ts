/**
 * Measures 50 followers: `node bench/followers.ts [seconds]` (default a minute). One process checks 10 pull requests, 15 URLs, 20
 * logs, 3 sets of files, a repository and an agent. A program named `gh` answers from a file, so that the network is not
 * measured.
 */
import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { openInbox } from '../src/user-inbox.ts';
import { add, type What } from '../src/sources/follow/index.ts';

const SECONDS = Number(process.argv[2] ?? 60);
const TICKS = 100;
const CLI = join(import.meta.dirname, '../dist/cli/main.js');
/** The documented minimum time between two checks, in s. */
const STATED = { pr: 60, url: 30, files: 5, log: 1 };

const folder = mkdtempSync(join(tmpdir(), 'earpiece-followers-'));
const bin = join(folder, 'bin');
const asked = join(folder, 'asked');
mkdirSync(bin);
writeFileSync(asked, '');
writeFileSync(
  join(bin, 'gh'),
  `#!/bin/sh\necho "$@" >> ${asked}\ncase "$*" in\n  *check-runs*) b='{"check_runs":[]}';;\n  *status*) b='{"statuses":[]}';;\n  *pulls/*[0-9]) b='{"head":{"sha":"a"},"base":{"ref":"main"},"state":"open"}';;\n  *user) b='{"login":"me"}';;\n  *) b='[]';;\nesac\nprintf 'HTTP/2.0 200 OK\\r\\nEtag: "a"\\r\\n\\r\\n%s' "$b"\n`,
);
chmodSync(join(bin, 'gh'), 0o755);
execFileSync('git', ['init', '-q'], { cwd: folder });
const requests: string[] = [];
const server = createServer((request, response) => {
  requests.push(request.url ?? '');
  response.end('{"status":"up"}');
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

const whats: readonly What[] = [
  ...many(10, (n): What => ({ kind: 'pr', host: 'github.test', repo: 'acme/shop', number: n })),
  ...many(15, (n): What => ({ kind: 'url', url: `${origin}/${n}` })),
  ...many(20, (n): What => ({ kind: 'log', file: join(folder, `${n}.log`), match: 'ERROR' })),
  ...many(3, (n): What => ({ kind: 'files', folder, globs: [`${n}*.log`] })),
  { kind: 'git', folder },
  { kind: 'agent', log: 'shop/reviewer', until: 'blocked' },
];
for (let n = 1; n <= 20; n++) writeFileSync(join(folder, `${n}.log`), 'INFO\n');
const db = join(folder, 'earpiece.db');
const env = { ...process.env, PATH: `${bin}:${process.env['PATH']}`, EARPIECE_DB: db, XDG_STATE_HOME: folder };
{
  await using ear = await openInbox({ flags: { db } });
  await ear.conversation('shop/reviewer#s1').seen();
  for (const what of whats) await add(ear.store, 'shop', { uid: ear.ids.make('f'), what, to: 'shop/coder', keep: true });
}
const looker = spawn(process.execPath, [CLI, 'follow', '--db', db, '--look', 'shop'], { cwd: folder, env, stdio: 'ignore' });
await pause(10_000);
const [before, requestsBefore, askedBefore] = [costOf(looker.pid ?? 0), requests.length, looks()];
await pause(SECONDS * 1_000);
const [after, status] = [costOf(looker.pid ?? 0), readFileSync(`/proc/${looker.pid}/status`, 'utf8')];
console.log(`${whats.length} followers, ${SECONDS} s`);
console.log(
  `processor: ${(after.own - before.own).toFixed(2)} s in the process, ${(after.children - before.children).toFixed(2)} s in gh and git`,
);
console.log(`memory: ${Math.round(Number(/VmRSS:\s+(\d+)/u.exec(status)?.[1]) / 1_024)} MB`);
rate('addresses', requests.length - requestsBefore, 15, STATED.url);
rate('pull requests', looks() - askedBefore, 10, STATED.pr);
looker.kill('SIGTERM');
server.close();
rmSync(folder, { recursive: true, force: true });

function many<T>(count: number, make: (n: number) => T): readonly T[] {
  return Array.from({ length: count }, (_, at) => make(at + 1));
}

function looks(): number {
  return readFileSync(asked, 'utf8')
    .split('\n')
    .filter((line) => /pulls\/\d+$/u.test(line)).length;
}

/** Returns the processor time of a process and of its ended children, in s. */
function costOf(pid: number): { readonly own: number; readonly children: number } {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  const sum = (at: number): number => (Number(fields[at]) + Number(fields[at + 1])) / TICKS;
  return { own: sum(11), children: sum(13) };
}

function rate(what: string, seen: number, count: number, everyS: number): void {
  const most = count * (Math.floor(SECONDS / everyS) + 1);
  console.log(`${what}: ${seen} looks, at most ${most} by the stated pace`);
  if (seen > most) process.exitCode = 1;
}
