/** Tests Codex as an app server: one process runs several sessions, each with its own gateway. */
import { expect, test } from 'vitest';
import { proves } from '../verifies.ts';
import { inEditor } from './acp.ts';
import { earpiece, wrappedFixture } from './earpiece.ts';
import { temporaryDatabase } from './hooked.ts';
import { told } from './told.ts';

test('each session hears its own notifications, and a notification to the whole project once', async () => {
  proves('hosts:codex-sessions');
  using database = temporaryDatabase();
  const call = { calls: [{ mcp: 'files', tool: 'measure', args: { sensor: 'a' } }] };
  await inEditor(
    'codex',
    {
      mcpServers: { files: wrappedFixture(database.path) },
      script: [call, { text: 'ONE' }, call, { text: 'TWO' }, call, { text: 'THREE' }],
    },
    async (editor) => {
      const { home, open, prompt, client } = editor;
      const send = (to: string, word: string): Promise<string> =>
        earpiece(home, database.path, 'send', '--to', to, `${word} something happened`);
      const sessions = [await open(), await open()];
      const inBoth = async (): Promise<void> => {
        for (const [n, session] of sessions.entries()) await prompt(session, `SESSION-${n}`);
      };
      await inBoth();
      expect((await send('fixture/*', 'WORD-ALL')).match(/fixture\/agent#/g)).toHaveLength(2);
      await send(`fixture/agent#${sessions[1]}`, 'WORD-TWO');
      await inBoth();
      await inBoth();
      const heard = sessions.map((_, n) => ({ client, main: editor.main.filter(({ text }) => text.includes(`SESSION-${n}`)) }));
      expect(heard.map((seen) => told(seen, 'WORD-ALL'))).toEqual([1, 1]);
      expect(heard.map((seen) => told(seen, 'WORD-TWO'))).toEqual([0, 1]);
    },
  );
});
