/** Tests patterns in a configuration that the user did not write. */
import { expect } from 'vitest';
import { verifies } from '../verifies.ts';
import { Shell } from './shell.ts';

const WORST = `${'a'.repeat(40)}!`;

verifies(
  'queue:patterns',
  'a pattern of a cloned repository with endless backtracking stops no command',
  async () => {
    await using shell = new Shell('redact = ["(a+)+$"]');
    const sending = shell.begin(['send', '--to', 'coder', WORST]);
    const tooLong = setTimeout(() => sending.process.kill('SIGKILL'), 30_000);
    const { code, signal, stderr } = await sending.ended;
    clearTimeout(tooLong);
    expect({ code, signal, stderr }).toEqual({ code: 0, signal: null, stderr: '' });
    expect(await shell.json(['inbox', 'coder'])).toMatchObject([{ message: WORST }]);
  },
  60_000,
);

verifies('queue:patterns', 'a lookbehind is refused, and the error names the file, the line and what to do', async () => {
  await using shell = new Shell('redact = ["(?<=key )\\\\w+"]');
  const { code, stderr } = await shell.run(['send', '--to', 'coder', 'the key 12345']);
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: `earpiece: ${shell.folder}/earpiece.toml:2:11: redact has "(?<=key )\\\\w+" as element 1: lookahead and lookbehind are not supported, since every pattern must run in linear time; match the surrounding text as well, or write one pattern for each case\n`,
  });
});
