import { basename } from 'node:path';
import { EarpieceError } from '../core/errors.ts';

/** It becomes part of the names of tools, where hosts take no others. */
export function checkName(name: string): void {
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(name))
    throw new EarpieceError(
      'bad_argument',
      `--name ${JSON.stringify(name.slice(0, 80))} may have letters, digits, "_" and "-", at most 64`,
    );
}

/**
 * What a server is called where nobody says: `npx -y @modelcontextprotocol/server-filesystem /tmp` and
 * `node …/server-filesystem/dist/index.js` are both `filesystem`.
 */
export function serverName(words: readonly string[]): string {
  const plainWords = words.filter((word) => !word.startsWith('-')).slice(0, 3);
  const segments = plainWords.flatMap((word) => word.split(/[/\\]/).filter((segment) => !segment.startsWith('@')));
  const named = segments.findLast(
    (segment) => /(^|[-_.])(mcp|server)([-_.]|$)/i.test(segment) && !/^(server|mcp)(\.[cm]?[jt]s)?$/i.test(segment),
  );
  const name = (named ?? basename(plainWords.at(-1) ?? 'server'))
    .replace(/@[\w.^~-]+$/, '')
    .replace(/\.[cm]?[jt]s$/, '')
    .replace(/^(mcp-server-|server-|mcp-)/, '')
    .replace(/(-mcp-server|-mcp|-server)$/, '')
    .replaceAll(/[^A-Za-z0-9_-]/g, '-');
  return name === '' ? 'server' : name.slice(0, 64);
}
