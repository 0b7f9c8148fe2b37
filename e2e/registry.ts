/**
 * Runs a registry for npm on loopback with one package. For every other package, this registry redirects to the registry of this
 * machine.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Manifest = {
  readonly name: string;
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: object;
  readonly peerDependencies?: object;
};

/** Starts the registry. `tarball` is the file that `npm pack` has made from the package. */
export async function startRegistry(manifest: Manifest, tarball: string): Promise<AsyncDisposable & { readonly url: string }> {
  const upstream = execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).trim().replace(/\/$/u, '');
  const { name, version } = manifest;
  const bytes = readFileSync(tarball);
  const integrity = `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
  const server = createServer(({ url = '/' }, answer) => {
    if (url.startsWith(`/${name}/-/`)) return void answer.writeHead(200, { 'content-length': bytes.length }).end(bytes);
    if (url.split('?')[0] !== `/${name}`) return void answer.writeHead(307, { location: `${upstream}${url}` }).end();
    const dist = { tarball: `http://${String(answer.req.headers.host)}/${name}/-/${name}-${version}.tgz`, integrity };
    const document = { name, 'dist-tags': { latest: version }, versions: { [version]: { ...manifest, scripts: {}, dist } } };
    answer.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(document));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
