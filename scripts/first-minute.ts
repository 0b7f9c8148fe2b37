/**
 * Records the first minute of a new user, from `npx earpiece` to the first notification in a real Claude Code. The home and the
 * folder are empty, and a registry on this machine serves the package. Prints the terminal session. `--update` writes the
 * session into docs/first-minute.txt and docs/install.md.
 */
import '../src/node-version.ts';
import { execFile, execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import pty from '@lydell/node-pty';
import { binaryOf } from '../e2e/hosts/pins.ts';
import { run } from '../e2e/hosts/run.ts';
import { told } from '../e2e/hosts/told.ts';
import { startRegistry, type Manifest } from '../e2e/registry.ts';

const root = path.join(import.meta.dirname, '..');
const PAGE = path.join(root, 'docs/install.md');
const RECORDING = 'docs/first-minute.txt';
const MINUTE_MS = 60_000;
/** A longer line is cut after this number of characters. */
const LONG = 130;

async function record(): Promise<void> {
  execFileSync('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder], { cwd: root });
  const tarball = fs.readdirSync(folder).find((name) => name.endsWith('.tgz')) ?? '';
  const manifest = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8')) as Manifest;
  await using registry = await startRegistry(manifest, path.join(folder, tarball));
  await session(registry.url);
}

async function session(registry: string): Promise<void> {
  let started = 0;
  let heard = 0;
  const shown: string[] = [];
  using seen = await run('claude', {
    prompt: 'Look at the build',
    script: [{ calls: [{ shell: 'echo looking' }] }, { text: 'The build ended: nothing is left to do.' }],
    async onPrepared(home) {
      const env = environment(home, registry);
      const work = path.join(home, 'work');
      started = performance.now();
      shown.push(`$ npx earpiece\n${await typed(work, env)}`);
      const send = ['earpiece', 'send', '--to', 'claude-code', 'the build ended'];
      const { stdout } = await promisify(execFile)('npx', send, { cwd: work, env, timeout: MINUTE_MS });
      shown.push(`$ npx earpiece send --to claude-code "the build ended"\n${stdout.trimEnd()}`);
    },
    onRequest(request) {
      if (heard === 0 && request.text.includes('the build ended')) heard = performance.now();
      return undefined;
    },
  });
  if (told(seen, 'the build ended') !== 1) throw new Error('Claude Code did not get the notification exactly once');
  shown.push(`$ claude -p "Look at the build"\n${seen.stdout.trimEnd()}`);
  const seconds = ((heard - started) / 1_000).toFixed(0);
  const text = shown.map((part) => neutral(part, seen.home)).join('\n\n');
  console.log(`${text}\n\n${seconds} s from npx earpiece to the request that holds the notification`);
  if (heard - started > MINUTE_MS) process.exitCode = 1;
  if (process.argv.includes('--update')) update(text);
}

const environment = (home: string, registry: string): Record<string, string> => ({
  PATH: [path.dirname(process.execPath), path.dirname(binaryOf('claude')), '/usr/local/bin', '/usr/bin', '/bin'].join(':'),
  HOME: home,
  XDG_CONFIG_HOME: path.join(home, '.config'),
  XDG_CACHE_HOME: path.join(home, '.cache'),
  XDG_DATA_HOME: path.join(home, '.local/share'),
  XDG_STATE_HOME: path.join(home, '.local/state'),
  TERM: 'xterm',
  NO_COLOR: '1',
  npm_config_registry: registry,
  // npm fetches other packages from the configured registry, whose certificate Node may need.
  ...(process.env['NODE_EXTRA_CA_CERTS'] === undefined ? {} : { NODE_EXTRA_CA_CERTS: process.env['NODE_EXTRA_CA_CERTS'] }),
  npm_config_yes: 'true',
  npm_config_progress: 'false',
  npm_config_update_notifier: 'false',
  npm_config_fund: 'false',
  npm_config_audit: 'false',
});

/** Runs `npx earpiece` in a terminal and answers its question with y. */
function typed(cwd: string, env: Record<string, string>): Promise<string> {
  return new Promise((resolve, reject) => {
    const terminal = pty.spawn('npx', ['earpiece'], { cwd, env, cols: 140, rows: 50 });
    let text = '';
    let answered = false;
    terminal.onData((data) => {
      text += data;
      if (answered || !text.includes('[y/N]')) return;
      answered = true;
      terminal.write('y\r');
    });
    terminal.onExit(({ exitCode }) => {
      // oxlint-disable-next-line no-control-regex -- the escape sequences of a terminal
      const plain = text.replaceAll(/\u001b\[[0-9;?]*[A-Za-z]/gu, '').replaceAll('\r', '');
      if (exitCode === 0) resolve(plain.trimEnd());
      else reject(new Error(`npx earpiece ended with ${exitCode}:\n${plain}`));
    });
  });
}

/** Replaces paths of this machine, and cuts long lines and diffs. */
function neutral(text: string, home: string): string {
  const lines = text
    .replaceAll(home, '~')
    .replaceAll(path.dirname(binaryOf('claude')), '/usr/local/bin')
    .replaceAll(process.execPath, '/usr/local/bin/node')
    .split('\n')
    .map((line) => (line.length > LONG ? `${line.slice(0, LONG)}…` : line.trimEnd()));
  const out: string[] = [];
  let diff = 0;
  for (const line of lines) {
    diff = /^ {4}[@+ -]/u.test(line) ? diff + 1 : 0;
    if (diff <= 14) out.push(line);
    else if (diff === 15) out.push('    …');
  }
  return out.join('\n');
}

function update(text: string): void {
  fs.writeFileSync(path.join(root, RECORDING), `${text}\n`);
  const page = fs.readFileSync(PAGE, 'utf8');
  const begin = `<!-- from ${RECORDING} -->\n\`\`\`text\n`;
  const at = page.indexOf(begin);
  if (at < 0) throw new Error(`${PAGE} has no block ${begin}`);
  const after = page.indexOf('\n```\n', at + begin.length);
  fs.writeFileSync(PAGE, `${page.slice(0, at)}${begin}${text}${page.slice(after)}`);
}

const folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'earpiece-minute-')));
try {
  await record();
} finally {
  fs.rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
