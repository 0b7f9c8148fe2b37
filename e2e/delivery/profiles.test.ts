import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Stage, textOf } from './stage.ts';

const FILES = [
  '--',
  process.execPath,
  join(import.meta.dirname, '../../node_modules/@modelcontextprotocol/server-filesystem/dist/index.js'),
];

describe('[gateway.profiles]', () => {
  it('a configured profile applies to its client; other clients get the built-in profile, or that of --profile', async () => {
    await using stage = new Stage();
    stage.config('[gateway.profiles.my-client]\nkind = "strip"\n');
    const structured = async (client: string, args: readonly string[] = []): Promise<boolean> => {
      const gateway = await stage.gateway({ client, args: [...args, ...FILES, stage.folder] });
      const result = await gateway.call('list_directory', { path: stage.folder });
      expect(textOf(result)).toContain('earpiece.toml');
      return 'structuredContent' in result;
    };
    expect(await structured('my-client')).toBe(false);
    expect(await structured('another')).toBe(true);
    expect(await structured('another', ['--profile', 'strip'])).toBe(false);
  });
});
