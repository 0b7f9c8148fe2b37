/** Tests the files of `examples/deploy`: validators of Compose and Kubernetes accept them, and their commands start a server. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { Deployment } from 'kubernetes-models/apps/v1';
import { Ingress } from 'kubernetes-models/networking.k8s.io/v1';
import { Secret, Service } from 'kubernetes-models/v1';
import { parse, parseAllDocuments } from 'yaml';
import { CLI } from '../built.ts';
import { onSocket, statusOf } from '../server/raw.ts';
import { ServerProcess } from '../server/process.ts';
import { proves } from '../verifies.ts';

const root = join(import.meta.dirname, '../..');
const DEPLOY = join(root, 'examples/deploy');
const bin = (name: string): string => join(root, 'node_modules/.bin', name);
/** The folder is below the root, so that TypeScript finds the packages. */
const folder = mkdtempSync(join(root, 'node_modules/.deploy-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

type Manifest = { readonly apiVersion: string; readonly kind: string };
const MODELS = { Deployment, Ingress, Secret, Service };
const manifests = (text: string): Manifest[] => parseAllDocuments(text).map((document) => document.toJS() as Manifest);

/** Returns the faults of manifests. The classes of `kubernetes-models` check values, and TypeScript finds unknown keys. */
function wrongIn(text: string): string {
  const all = manifests(text);
  for (const manifest of all) {
    const { [manifest.kind as keyof typeof MODELS]: Model } = MODELS;
    try {
      new Model(manifest as never).validate();
    } catch (error) {
      return `${manifest.kind}: ${error instanceof Error ? error.message : String(error)}`;
    }
  }
  const program = join(folder, 'manifests.ts');
  const from = (apiVersion: string): string => `kubernetes-models/${apiVersion}`;
  writeFileSync(
    program,
    all.map(({ apiVersion, kind }, i) => `import type { I${kind} as T${i} } from '${from(apiVersion)}';\n`).join('') +
      all.map((manifest, i) => `export const m${i}: T${i} = ${JSON.stringify(manifest)};\n`).join(''),
  );
  const options = ['--noEmit', '--ignoreConfig', '--strict', '--skipLibCheck', '--module', 'nodenext', '--target', 'esnext'];
  return spawnSync(bin('tsc'), [...options, program], { encoding: 'utf8' }).stdout;
}

function wrongInCompose(text: string): string {
  const file = join(folder, 'compose.yaml');
  writeFileSync(file, text);
  const { status, stdout, stderr } = spawnSync(bin('dclint'), [file], { cwd: folder, encoding: 'utf8' });
  return status === 0 ? '' : `${stdout}${stderr}`;
}

const read = (name: string): string => readFileSync(join(DEPLOY, name), 'utf8');

describe('the files of a deployment', () => {
  proves('fleet:deploy');

  test('Kubernetes accepts the manifests, and refuses a wrong value, a missing key and an unknown key', () => {
    const text = read('kubernetes.yaml');
    expect(wrongIn(text)).toBe('');
    expect(wrongIn(text.replace('replicas: 3', 'replicas: three'))).toContain('/spec/replicas must be integer');
    expect(wrongIn(text.replace('- name: earpiece\n', '- '))).toContain('must have required property name');
    expect(wrongIn(text.replace('readinessProbe', 'readyProbe'))).toContain('readyProbe"\' does not exist');
  });

  test('Compose accepts compose.yaml, and refuses an unknown key', () => {
    const text = read('compose.yaml');
    expect(wrongInCompose(text)).toBe('');
    expect(wrongInCompose(text.replace('restart:', 'restarts:'))).toContain('ComposeValidationError');
  });

  test('their commands start a server that answers the probe and the proxy', async () => {
    const deployment = manifests(read('kubernetes.yaml')).find(({ kind }) => kind === 'Deployment') as unknown as {
      spec: { template: { spec: { containers: { args: string[]; readinessProbe: { httpGet: { path: string } } }[] } } };
    };
    const [container] = deployment.spec.template.spec.containers;
    const compose = parse(read('compose.yaml')) as { services: { earpiece: { command: string[] } } };
    const env = {
      PATH: process.env['PATH'] ?? '',
      HOME: folder,
      EARPIECE_DB: join(folder, 'e.db'),
    };
    const [serve, ...args] = container?.args ?? [];
    expect(serve).toBe('serve');
    expect(
      compose.services.earpiece.command.map((word) => (word.startsWith('${HOST_NAME') ? 'earpiece.example.com' : word)),
    ).toEqual([serve, ...args]);
    const refused = spawnSync(process.execPath, [CLI, 'serve', ...args, '--port', '0'], { cwd: folder, env, encoding: 'utf8' });
    expect(refused.stderr).toContain('create a token first: earpiece token create --kind admin');
    spawnSync(process.execPath, [CLI, 'token', 'create', '--kind', 'admin', '--name', 'me'], { cwd: folder, env });
    await using server = new ServerProcess([...args, '--port', '0'], { cwd: folder, env });
    const { url } = await server.ready;
    const path = container?.readinessProbe.httpGet.path ?? '';
    for (const host of ['10.1.2.3:4747', 'earpiece.example.com']) {
      const { text } = await onSocket(url.replace('0.0.0.0', '127.0.0.1'), [
        `GET ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`,
      ]);
      expect(statusOf(text), host).toBe(200);
    }
  });

  test('the commands of the guides name existing files, and Earpiece knows each command', () => {
    const page = (name: string): string => {
      const text = readFileSync(join(root, 'docs/guides', name), 'utf8');
      return /<!-- tested by e2e\/fleet\/deploy\.test\.ts -->\n```sh\n([^`]*)```/u.exec(text)?.[1] ?? '';
    };
    const env = { PATH: process.env['PATH'] ?? '', HOME: folder, EARPIECE_DB: join(folder, 'guides.db') };
    const run = (words: string): string => {
      const args = words.replace(/ +#.*/u, '').split(' ');
      const { status, stdout, stderr } = spawnSync(process.execPath, [CLI, ...args], { cwd: folder, env, encoding: 'utf8' });
      return status === 0 ? stdout : `${words} ended with ${status}: ${stderr}`;
    };
    const team = page('run-it-for-a-team.md');
    const compose = parse(read('compose.yaml')) as { services: object };
    expect(Object.keys(compose.services)).toContain('earpiece');
    const words = [...team.matchAll(/docker compose run --rm earpiece (.+)/gu)].map(([, each = '']) => each);
    expect(words.map((each) => run(each))).toEqual([expect.stringContaining('ep_'), expect.stringContaining('#code=')]);
    for (const [, variable] of team.matchAll(/"(\w+)=/gu)) expect(read('compose.yaml')).toContain(`\${${variable}:?`);

    const fleet = page('run-a-fleet.md');
    expect(fleet).toContain('--filename kubernetes.yaml');
    expect(read('kubernetes.yaml')).toContain(`image: ${/--image=(\S+)/u.exec(fleet)?.[1]}\n`);
    expect(run(/ -- (.+)/u.exec(fleet)?.[1] ?? '')).toContain('ep_');

    const one = page('run-on-one-machine.md');
    expect(one).toContain('enable --now earpiece\n');
    expect(run(/^earpiece (.+)$/mu.exec(one)?.[1] ?? '')).toContain('#code=');
    expect(/"exec (.*)"/u.exec(read('earpiece.service'))?.[1]).toBe('earpiece serve');
  });
});
