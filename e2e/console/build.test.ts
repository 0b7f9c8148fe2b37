/** Tests the built console in the package. */
import { wholeProgram } from '../../src/cli/commander.ts';
import { wrongSnippets } from '../snippets.ts';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { get, type IncomingHttpHeaders } from 'node:http';
import { brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
import { expect } from 'vitest';
import { DEFAULT_POLICY } from '../../src/core/policy.ts';
import { Inbox } from '../../src/inbox/index.ts';
import { createServer } from '../../src/server/index.ts';
import { openStore } from '../../src/stores/index.ts';
import { verifies } from '../verifies.ts';

const folder = join(import.meta.dirname, '../../dist/console');
const MAX_BYTES = 150_000;

const files = (): { name: string; bytes: Buffer }[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => ({ name: entry.name, bytes: readFileSync(join(entry.parentPath, entry.name)) }));

verifies('console:small', 'SC: all files together are smaller than 150 kB gzipped', () => {
  const size = files().reduce((sum, { bytes }) => sum + gzipSync(bytes, { level: 9 }).length, 0);
  expect(size).toBeGreaterThan(10_000);
  expect(size).toBeLessThan(MAX_BYTES);
});

verifies('console:small', 'the page has no inline scripts or styles, and loads nothing from another server', () => {
  const html =
    files()
      .find(({ name }) => name === 'index.html')
      ?.bytes.toString() ?? '';
  expect(html).toContain('<script type="module"');
  expect(html.match(/<script(?![^>]*\bsrc=)[^>]*>/gu)).toBeNull();
  expect(html.match(/<style|\sstyle=|\son[a-z]+=/gu)).toBeNull();
  for (const { name, bytes } of files().filter((file) => /\.(?:html|css|svg)$/u.test(file.name)))
    expect(
      (bytes.toString().match(/(?:https?:)?\/\/[\w.-]+/gu) ?? []).filter((url) => url !== 'http://www.w3.org'),
      name,
    ).toEqual([]);
});

verifies('console:teaches', 'each command that the console offers to copy exists', async () => {
  const root = join(import.meta.dirname, '../..');
  const sources = readdirSync(join(root, 'console/src'), { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.tsx'),
  );
  const commands = sources.flatMap((file) =>
    [
      ...readFileSync(join(root, 'console/src', file), 'utf8').matchAll(
        /<Command text=(?:"(?<plain>[^"]+)"|\{(?<quote>['`])(?<quoted>.+?)\k<quote>\})/gu,
      ),
    ].map(({ groups }) =>
      (groups?.['plain'] ?? groups?.['quoted'] ?? '')
        .replaceAll('${client}', 'claude')
        .replaceAll(/\$\{word\(.*?\)\}/gu, 'shop/coder'),
    ),
  );
  const ours = commands.filter((command) => command.startsWith('earpiece'));
  expect(ours.length).toBeGreaterThan(6);
  const page = ours.map((command) => `\`\`\`sh\n${command}\n\`\`\``).join('\n');
  expect(wrongSnippets('console', page, { root, scripts: new Set(), program: await wholeProgram() })).toEqual([]);
});

verifies(
  'console:small',
  'the server sends assets compressed and cacheable forever, and the page must be requested again',
  async () => {
    const store = await openStore('memory:');
    const server = createServer({
      inbox: new Inbox({ store, policies: { policy: () => DEFAULT_POLICY } }),
      project: 'shop',
      version: '0.0.0',
      consoleFolder: folder,
    });
    const { url } = await server.listen({ port: 0 });
    const script = files().find(({ name }) => name.endsWith('.js'));
    const ask = (path: string, accepts: string): Promise<{ headers: IncomingHttpHeaders; body: Buffer }> =>
      new Promise((resolve, reject) => {
        get(`${url}${path}`, { headers: { 'accept-encoding': accepts, accept: 'text/html' } }, (answer) => {
          const chunks: Buffer[] = [];
          answer
            .on('data', (chunk: Buffer) => chunks.push(chunk))
            .on('end', () => resolve({ headers: answer.headers, body: Buffer.concat(chunks) }));
        }).on('error', reject);
      });
    try {
      const path = `/assets/${script?.name}`;
      for (const [accepts, encoding, opened] of [
        ['gzip, deflate, br, zstd', 'br', brotliDecompressSync],
        ['gzip', 'gzip', gunzipSync],
        ['br;q=0, *', 'gzip', gunzipSync],
      ] as const) {
        const { headers, body } = await ask(path, accepts);
        expect(headers).toMatchObject({
          'content-encoding': encoding,
          'cache-control': 'public, max-age=31536000, immutable',
          vary: 'accept-encoding',
        });
        expect(body.length).toBeLessThan(MAX_BYTES);
        expect(opened(body).equals(script?.bytes ?? Buffer.of())).toBe(true);
      }
      const plain = await ask(path, 'identity');
      expect(plain.headers['content-encoding']).toBeUndefined();
      expect(plain.body.equals(script?.bytes ?? Buffer.of())).toBe(true);
      expect((await ask('/', 'gzip')).headers['cache-control']).toBe('no-cache');
    } finally {
      await server.stop();
      await store.close();
    }
  },
);
