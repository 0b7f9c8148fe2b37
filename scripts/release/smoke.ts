/**
 * Runs the smoke test: installs the tarball into an empty folder, and uses the command line, the library, a gateway and the
 * server.
 */
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';

/** A step that takes longer counts as hung. */
const STEP_MS = 180_000;

const RED = 'The build is red: 2 tests';

/** The program of a user who installed the library. */
const TWICE = `
import { openEarpiece } from 'earpiece';
await using ear = await openEarpiece();
const coder = ear.conversation('app/coder');
for (const point of ['first', 'second']) {
  const offer = await coder.offer({ at: 'tool_result', on: point });
  console.log(point, offer === undefined ? 'nothing' : offer.text);
  await offer?.confirm();
}
`;

/** Runs the smoke test. Throws at the first step with an unexpected result. */
export async function smoke(tarball: string, app: string): Promise<void> {
  mkdirSync(join(app, '.git'), { recursive: true });
  writeFileSync(join(app, 'package.json'), '{"name":"app","private":true,"type":"module"}\n');
  const PATH = `${join(app, 'node_modules/.bin')}:${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`;
  const env = { PATH, HOME: app };
  const run = (command: string, ...args: readonly string[]): string =>
    execFileSync(command, args, { cwd: app, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], timeout: STEP_MS });
  const step = (what: string, said: string, wanted: RegExp): void => {
    if (!wanted.test(said)) throw new Error(`${what}: ${wanted} is missing from its output:\n${said}`);
    console.log(`✓ ${what}`);
  };

  // npm uses the settings of the person who releases, which may name a registry.
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', tarball], {
    cwd: app,
    env: { ...process.env, PATH },
    stdio: ['ignore', 'ignore', 'inherit'],
    timeout: STEP_MS,
  });
  step('installed in an empty folder, on Node', run('node', '--version'), /^v(?:2[4-9]|[3-9]\d)\./);
  step('earpiece --version', run('earpiece', '--version'), /^\d+\.\d+\.\d+\n$/);
  step('earpiece --help', run('npx', '--no', '--', 'earpiece', '--help'), /Notify an agent:/);
  step('earpiece send', run('earpiece', 'send', '--to', 'coder', '--level', 'error', RED), /queued/);
  writeFileSync(join(app, 'twice.mjs'), TWICE);
  const told = run('node', 'twice.mjs');
  step('the library delivers it once', told, /^first \[ep [\s\S]*2 tests[\s\S]*\nsecond nothing\n$/);
  step('a gateway carries once', await throughGateway(app, env, run), /^1 of 2$/);
  step('earpiece doctor', doctor(run), /database|store/i);
  await serving(app, env, step);
}

/** Runs `earpiece doctor`. If no coding agent is set up, the command prints its findings and exits with 8. */
function doctor(run: (command: string, ...args: readonly string[]) => string): string {
  try {
    return run('earpiece', 'doctor');
  } catch (error) {
    const { status, stdout } = error as { status?: number; stdout?: string };
    if (status === 8) return stdout ?? '';
    throw error;
  }
}

const ECHO = `
import { createInterface } from 'node:readline';
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const result =
    method === 'initialize'
      ? { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'echo', version: '1' } }
      : method === 'tools/list'
        ? { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] }
        : { content: [{ type: 'text', text: 'echoed' }] };
  console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
}
`;

/** Returns `n of 2`: the number of answers, of two, that contain the notification. */
async function throughGateway(
  app: string,
  env: Record<string, string>,
  run: (command: string, ...args: readonly string[]) => string,
): Promise<string> {
  writeFileSync(join(app, 'echo.mjs'), ECHO);
  run('earpiece', 'send', '--to', 'coder', 'Through the gateway');
  const child = spawn('earpiece', ['gateway', '--as', 'app/coder#g', '--', 'node', 'echo.mjs'], {
    cwd: app,
    env,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  try {
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const ask = async (id: number, method: string, params: object): Promise<string> => {
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
      for (;;) {
        const { value, done } = await lines.next();
        if (done) throw new Error(`the gateway ended before it answered ${method}`);
        if ((JSON.parse(value) as { id?: number }).id === id) return value;
      }
    };
    await ask(1, 'initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'smoke', version: '1' } });
    child.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
    const answers = [await ask(2, 'tools/call', { name: 'echo' }), await ask(3, 'tools/call', { name: 'echo' })];
    if (!answers.every((answer) => answer.includes('echoed'))) throw new Error(`a result is lost: ${answers.join('\n')}`);
    return `${answers.filter((answer) => answer.includes('Through the gateway')).length} of 2`;
  } finally {
    child.stdin.end();
    child.kill();
  }
}

async function serving(
  app: string,
  env: Record<string, string>,
  step: (what: string, said: string, wanted: RegExp) => void,
): Promise<void> {
  const child = spawn('earpiece', ['serve', '--json', '--port', '0'], { cwd: app, env, stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const first = await createInterface({ input: child.stdout })[Symbol.asyncIterator]().next();
    const { url } = JSON.parse(String(first.value)) as { url: string };
    const page = await (await fetch(url, { headers: { accept: 'text/html' } })).text();
    step('earpiece serve answers with the console', page, /<div id="root">|<script type="module"/);
    let served = 0;
    for (const [, asset = ''] of page.matchAll(/(?:src|href)="(\/[^"]+)"/g)) {
      const { status } = await fetch(new URL(asset, url));
      if (status !== 200) throw new Error(`${asset} of the console answers ${status}`);
      served++;
    }
    step('and with its files', `${served}`, /^[1-9]/);
  } finally {
    child.kill();
  }
}
